"""Rounds with many rows and clients, in memory."""

import statistics

from .environment import Failed, say
from .machine import memory_bytes
from .plan import (
    LARGE,
    LARGE_BYTES,
    LARGE_GROWTH,
    LARGE_QUICK,
    LARGE_SECONDS,
    LARGE_TRUST_FACTOR,
    MIN_MEMORY,
    OURS_GAUSS_NEWTON,
    OURS_TRUST,
    LargePlan,
)
from .turns import add_turn
from .wording import claim, growth, memory, seconds, table

# The sizes are measured in turn, several times, so that background load affects all of them.
TURNS = 3
REPEATS, BUDGET = 2, 30
TITLE = "## Many rows and clients\n"


def measure(env, options):
    """A dictionary per number of rows, and one of the default defense on the most rows. Each is measured in its own process, because peak memory
    is per process."""
    plan = LARGE_QUICK if options.quick else LARGE
    sizes, left_out, trust = {}, {}, {}
    for turn in range(1 if options.quick else TURNS):
        for rows in plan.rows:
            if rows in left_out:
                continue
            if rows > 1_000_000 and memory_bytes() < MIN_MEMORY:
                reason = f"this machine has less than {MIN_MEMORY / 1e9:.0f} GB of memory"
                left_out[rows] = {"rows": rows, "reason": reason, "tried": False}
                continue
            try:
                add_size(env, plan, OURS_GAUSS_NEWTON, rows, turn, sizes)
                if rows == plan.rows[-1]:
                    add_size(env, plan, OURS_TRUST, rows, turn, trust)
            except Failed as failure:
                left_out[rows] = {"rows": rows, "reason": str(failure), "tried": True}
                sizes.pop(rows, None)
                trust.pop(rows, None)
    return {"sizes": list(sizes.values()), "left_out": list(left_out.values()), "trust": next(iter(trust.values()), None)}


def add_size(env, plan, defense, rows, turn, sizes):
    """Measures one size with one defense and adds the figures to those of earlier turns."""
    say(f"large: {defense}, {rows:,} rows, {plan.features} features, {plan.clients:,} clients, turn {turn + 1}")
    measured = env.example("scaling", defense, rows, plan.features, plan.clients, REPEATS, BUDGET, env.threads)[0]
    size = sizes.setdefault(rows, {**measured, "seconds": [], "pass_seconds": []})
    size["prepare_seconds"] = max(size["prepare_seconds"], measured["prepare_seconds"])
    add_turn(size, measured, ("seconds", "pass_seconds"))


def section(answer):
    about = (
        "`--defense bilevel` (Gauss–Newton) with default settings and all threads, and the default defense, `trust`, on the most rows. Rows are "
        "generated as for the tables above, all in memory.\n"
    )
    columns = ["defense", ">rows", ">features", ">clients", ">repeats", ">preparation", ">solve", ">passes", ">pass", ">pass, per row"]
    columns += [">solve, per row", ">peak memory", "stopped"]
    rows = []
    for size in [*answer["sizes"], *filter(None, [answer["trust"]])]:
        rows.append(
            [f"`{size['defense']}`"]
            + [f"{size[name]:,}" for name in ("rows", "features", "clients")]
            + [str(len(size["seconds"])), seconds(size["prepare_seconds"]), seconds(size["median"])]
            + [f"{size['counts']['passes']:,}", seconds(pass_seconds(size)), seconds(pass_seconds(size) / size["rows"])]
            + [seconds(size["median"] / size["rows"]), memory(size["peak_bytes"]), size["termination"]]
        )
    parts = [TITLE, about, table(columns, rows) + "\n"]
    parts += [f"{size['rows']:,} rows: not measured ({size['reason']}).\n" for size in answer["left_out"]]
    parts.append(
        "Peak memory includes the whole process, which also generates the rows. A pass over all proxy rows with Hessians is timed separately, to "
        "show how the work grows with rows. The solve time also has a part that does not depend on the number of proxy rows: the local model of each "
        "client is evaluated on the whole root, which has 20 rows per client here, and each step selects among all clients. With few rows per client, this part dominates.\n"
    )
    return "\n".join(parts)


def pass_seconds(size):
    return statistics.median(size["pass_seconds"])


def check(answer):
    """Compares the smallest and the largest round."""
    sizes = answer.get("sizes") or []
    whole = len(sizes) > 1 and not answer["left_out"]
    plan = LargePlan(tuple(s["rows"] for s in sizes), sizes[0]["features"], sizes[0]["clients"]) if whole else LARGE
    min_rows, rows, clients = plan.rows[0], plan.rows[-1], plan.clients
    what = f"{rows:,} rows × {plan.features} features × {clients:,} clients"
    limits = [
        (f"{what}: preparation and solve", f"under {LARGE_SECONDS} s"),
        (f"{what}: peak resident memory", f"under {LARGE_BYTES / 2**30:g} GiB"),
        (f"{clients:,} clients: time of a pass per row, {rows:,} rows against {min_rows:,}", growth(LARGE_GROWTH)),
        (f"{clients:,} clients: time of a solve per row, {rows:,} rows against {min_rows:,}", growth(LARGE_GROWTH)),
        (f"{what}: preparation and solve, `trust` against `bilevel`", f"at most {LARGE_TRUST_FACTOR}×"),
        (f"{what}: peak resident memory, `trust` against `bilevel`", f"at most {LARGE_TRUST_FACTOR}×"),
    ]
    if not whole:
        tried = [size for size in answer.get("left_out", []) if size["tried"] and size["rows"] == rows]
        failed = [claim(*limits[0], f"failed: {size['reason']}", False) for size in tried]
        return (failed or [claim(*limits[0])]) + [claim(*limit) for limit in limits[1:]]
    few, many = sizes[0], sizes[-1]
    total = many["prepare_seconds"] + many["median"]
    per_pass = (pass_seconds(many) / many["rows"]) / (pass_seconds(few) / few["rows"])
    per_solve = (many["median"] / many["rows"]) / (few["median"] / few["rows"])
    peak = many["peak_bytes"]
    passes = f"{few['counts']['passes']:,} and {many['counts']['passes']:,} passes"
    solves = f"{per_solve:.2f}×: {seconds(few['median'])} and {seconds(many['median'])}, {passes}"
    return [
        claim(*limits[0], seconds(total), total < LARGE_SECONDS),
        claim(*limits[1], memory(peak), peak < LARGE_BYTES) if peak else claim(*limits[1]),
        claim(*limits[2], f"{per_pass:.2f}×", abs(per_pass - 1) <= LARGE_GROWTH),
        claim(*limits[3], solves, abs(per_solve - 1) <= LARGE_GROWTH),
        *compare_with_trust(many, answer["trust"], limits[4:]),
    ]


def compare_with_trust(bilevel, trust, limits):
    def total(size):
        return size["prepare_seconds"] + size["median"]

    def against(found, reference, show, limit):
        if not found or not reference:
            return claim(*limit)
        return claim(*limit, f"{found / reference:.2f}×: {show(found)} and {show(reference)}", found <= LARGE_TRUST_FACTOR * reference)

    return [
        against(total(trust), total(bilevel), seconds, limits[0]),
        against(trust["peak_bytes"], bilevel["peak_bytes"], memory, limits[1]),
    ]
