"""The share of this machine's roofline that a pass over the rows reaches."""

from .environment import run
from .plan import ROOFLINE_ENTRIES, ROOFLINE_SHARE, ROOFLINE_SPEED_UP
from .wording import claim, seconds, table

BENCH = ["cargo", "bench", "--quiet", "--locked", "--package", "equipoise-core", "--bench", "roofline"]
TITLE = "## Roofline\n"


def measure(env, options):
    """The limits of the machine and the speed of passes, always with one and with two threads."""
    return run([*BENCH, "--", "--json", *(["--quick"] if options.quick else [])])[0]


def section(answer):
    about = (
        "Measured by `cargo bench -p equipoise-core --bench roofline`. The limits come from a loop of fused multiply-adds and a loop of "
        "loads. Useful operations are 2n per row for the margin, 2n for the gradient and n(n+1) for the Hessian. Because exp, log1p and "
        "divisions do not count, no pass can reach its roof. Limits and passes are measured in turn, four times, and the best of each is "
        "shown.\n"
    )
    roofs = [[str(r["threads"]), f"{r['gflops']:.1f}", f"{r['gigabytes']:.1f}"] for r in answer["roofs"]]
    rows = []
    for p in answer["passes"]:
        speed_up = f"{p['speed_up']:.2f}×" if p["threads"] > 1 else ""
        rows.append(
            [f"{p['rows']:,}", str(p["n"]), p["order"], str(p["threads"]), seconds(p["seconds"])]
            + [f"{p['gflops']:.1f}", f"{p['roof_gflops']:.1f}", f"{p['share']:.2f}", speed_up]
        )
    columns = [">rows", ">entries", "derivatives", ">threads", ">pass", ">GFLOP/s", ">roof", ">share", ">speed-up"]
    limits = table([">threads", ">peak, GFLOP/s", ">memory, GB/s"], roofs)
    return "\n".join([TITLE, about, limits + "\n", table(columns, rows) + "\n"])


def share_claim(limit, p):
    """If a pass exceeds its roof, the machine was busy when the roof was measured, and the share means nothing."""
    if p["share"] > 1:
        return claim(*limit, f"{p['share']:.2f}: the roof was measured too low")
    return claim(*limit, f"{p['share']:.2f}", p["share"] >= ROOFLINE_SHARE)


def check(answer):
    """Checks the passes over the largest number of rows."""
    passes = [p for p in answer.get("passes", []) if p["order"] == "hessian"]
    max_rows = max((p["rows"] for p in passes), default=1_000_000)
    found = {(p["n"], p["threads"]): p for p in passes if p["rows"] == max_rows}
    rows = []
    for n in ROOFLINE_ENTRIES:
        what = f"pass with Hessians, {max_rows:,} rows × {n} entries"
        for threads in (1, 2):
            limit = f"{what}, {threads} thread{'s' * (threads > 1)}: share of the roofline", f"at least {ROOFLINE_SHARE:g}"
            p = found.get((n, threads))
            rows.append(share_claim(limit, p) if p else claim(*limit))
        limit = f"{what}: two threads against one", f"at least {ROOFLINE_SPEED_UP:g}× as fast"
        p = found.get((n, 2))
        rows.append(claim(*limit, f"{p['speed_up']:.2f}×", p["speed_up"] >= ROOFLINE_SPEED_UP) if p else claim(*limit))
    return rows
