"""Rounds larger than their memory limit: `equipoise defend --memory`."""

import json
import shutil

from .environment import CACHE, Failed, say
from .plan import DISK, DISK_QUICK, MIN_FREE_DISK
from .wording import claim, memory, seconds, table

FOLDER = CACHE / "large"
TITLE = "## Larger than memory\n"


def measure(env, options):
    """Generates both rounds, solves them, and deletes them."""
    plan = DISK_QUICK if options.quick else DISK
    CACHE.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(CACHE).free
    if free < MIN_FREE_DISK:
        raise Failed(f"skipped, because the disk has {free / 1e9:.1f} GB left and {MIN_FREE_DISK / 1e9:.0f} GB are needed")
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        same, equal = same_answer(env, plan)
        return {"same": same, "equal": equal, "large": large(env, plan)}
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)


def same_answer(env, plan):
    """Solves a round in memory and with a small limit, with one thread and with all. Returns the runs and whether all results are equal."""
    round_folder = make(env, "same", plan.same_rows, plan)
    runs, answers = [], []
    for threads in sorted({1, env.threads}):
        for limit in (None, plan.same_limit):
            run, written = defend(env, round_folder, threads, limit)
            runs.append({"rows": plan.same_rows, **run})
            answers.append(written)
    shutil.rmtree(round_folder)
    return runs, all(answer == answers[0] for answer in answers)


def large(env, plan):
    about = {"rows": plan.rows, "limit": plan.limit, "limit_bytes": plan.limit_bytes, "threads": env.threads}
    folder = make(env, "rows", plan.rows, plan)
    try:
        return {**about, **defend(env, folder, env.threads, plan.limit)[0]}
    except Failed as failure:
        return {**about, "failed": str(failure)}


def make(env, name, rows, plan):
    folder = FOLDER / name
    say(f"disk: writing {rows:,} rows, {plan.features} features, {plan.clients} clients")
    env.printing_example("large_round", folder, rows, plan.features, plan.clients, 1)
    return folder


def defend(env, folder, threads, limit):
    """Time and memory of the command, including reading and writing, and the files it wrote."""
    say(f"disk: defend with {threads} thread{'s' * (threads > 1)}, " + (f"--memory {limit}" if limit else "no limit"))
    out, scratch = FOLDER / "outcome", FOLDER / "scratch"
    scratch.mkdir(exist_ok=True)
    arguments = ["defend", "--proxies", folder / "proxies", "--root", folder / "roots", "--schema", folder / "schema.toml"]
    arguments += ["--fairness", "sp", "--output", out, "--threads", threads, "--quiet"]
    arguments += ["--memory", limit, "--scratch", scratch] if limit else []
    # Exit code 1 means that the solver ran out of steps. It still wrote an outcome.
    run = env.equipoise(*arguments, good=(0, 1))
    outcome = json.loads((out / "outcome.json").read_text())
    solve_seconds = outcome.pop("seconds", None)
    written = json.dumps(outcome), (out / "model.json").read_bytes(), (out / "weights.csv").read_bytes()
    shutil.rmtree(out)
    run.update(threads=threads, limit=limit, solve_seconds=solve_seconds, termination=outcome["termination"])
    return run, written


def section(answer):
    about = (
        "`equipoise defend` on Parquet files written by `crates/equipoise-lab/examples/large_round.rs` (16 features, 8 clients). Time and "
        "memory cover the whole command: reading, solving and writing. The files were written just before, so that the system's cache may "
        "hold some of them.\n"
    )
    rows = []
    for run in [*answer["same"], answer["large"]]:
        cells = [f"{run['rows']:,}", str(run["threads"]), run["limit"] or "none"]
        if "failed" in run:
            rows.append([*cells, f"failed: {run['failed']}", "", "", ""])
            continue
        rows.append(
            [*cells, seconds(run["seconds"])]
            + [seconds(run["solve_seconds"]) if run["solve_seconds"] else "–", memory(run["peak_bytes"]), run["termination"]]
        )
    columns = [">rows", ">threads", ">`--memory`", ">command", ">solve", ">peak memory", "stopped"]
    equal = "are identical" if answer["equal"] else "**differ**"
    note = (
        f"The files `outcome.json` (except for `seconds`), `model.json` and `weights.csv` of the {len(answer['same'])} runs on "
        f"{answer['same'][0]['rows']:,} rows {equal}.\n"
    )
    return "\n".join([TITLE, about, table(columns, rows) + "\n", note])


def check(answer):
    large, same = answer.get("large"), answer.get("same")
    rows, limit = (large["rows"], large["limit"]) if large else (DISK.rows, DISK.limit)
    same_rows = same[0]["rows"] if same else DISK.same_rows
    same_limit = same[1]["limit"] if same else DISK.same_limit
    limits = [
        (f"{rows:,} rows from Parquet with `--memory {limit}`", "finishes"),
        (f"{rows:,} rows from Parquet with `--memory {limit}`: peak resident memory", f"under {limit}"),
        (f"{same_rows:,} rows in memory and with `--memory {same_limit}`, one thread and all", "identical results"),
    ]
    if not large:
        return [claim(*limit) for limit in limits]
    if "failed" in large:
        of_large = [claim(*limits[0], f"failed: {large['failed']}", False), claim(*limits[1])]
    else:
        of_large = finished(large, limits)
    return [*of_large, claim(*limits[2], "identical" if answer["equal"] else "different", answer["equal"])]


def finished(large, limits):
    return [
        claim(*limits[0], f"after {seconds(large['seconds'])}: {large['termination']}", large["code"] == 0),
        claim(*limits[1], memory(large["peak_bytes"]), large["peak_bytes"] < large["limit_bytes"]),
    ]
