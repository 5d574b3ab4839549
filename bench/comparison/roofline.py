"""The share of this machine's roofline that a pass over the rows reaches."""

from .environment import run
from .plan import ROOFLINE_ENTRIES, ROOFLINE_SHARE, ROOFLINE_SPEED_UP
from .wording import claim, seconds, table

BENCH = ["cargo", "bench", "--quiet", "--locked", "--package", "equipoise-core", "--bench", "roofline"]
TITLE = "## How close passes come to the machine's limits\n"


def measure(env, options):
    """What the machine reaches, and what passes reach; with one thread and with two, whatever `--threads` says."""
    return run([*BENCH, "--", "--json", *(["--quick"] if options.quick else [])])[0]


def section(answer):
    about = (
        "`cargo bench -p equipoise-core --bench roofline`. The limits are what a loop of nothing but fused multiply-adds, and a loop of "
        "nothing but loads, reach here. Counted as useful are 2n operations per row for the margin, 2n for the gradient and n(n+1) for the "
        "Hessian; exp, log1p and divisions are not counted, so no pass can reach all of its roof. "
        "Limits and passes are measured in turn, four times; the best of each is shown.\n"
    )
    roofs = [[str(r["threads"]), f"{r['gflops']:.1f}", f"{r['gigabytes']:.1f}"] for r in answer["roofs"]]
    rows = []
    for p in answer["passes"]:
        speed_up = f"{p['speed_up']:.2f}×" if p["threads"] > 1 else ""
        rows.append(
            [f"{p['rows']:,}", str(p["n"]), p["order"], str(p["threads"]), seconds(p["seconds"])]
            + [f"{p['gflops']:.1f}", f"{p['roof_gflops']:.1f}", f"{p['share']:.2f}", speed_up]
        )
    columns = [">rows", ">entries", "up to", ">threads", ">pass", ">GFLOP/s", ">roof", ">share", ">speed-up"]
    limits = table([">threads", ">peak, GFLOP/s", ">memory, GB/s"], roofs)
    return "\n".join([TITLE, about, limits + "\n", table(columns, rows) + "\n"])


def share_claim(words, p):
    """A pass above its roof says that the machine was too busy when the roof was measured: then nothing is shown."""
    if p["share"] > 1:
        return claim(*words, f"{p['share']:.2f}: the roof was measured too low")
    return claim(*words, f"{p['share']:.2f}", p["share"] >= ROOFLINE_SHARE)


def check(answer):
    """The largest number of rows counts."""
    passes = [p for p in answer.get("passes", []) if p["order"] == "hessian"]
    most = max((p["rows"] for p in passes), default=1_000_000)
    found = {(p["n"], p["threads"]): p for p in passes if p["rows"] == most}
    rows = []
    for n in ROOFLINE_ENTRIES:
        what = f"pass with Hessians, {most:,} rows × {n} entries"
        for threads in (1, 2):
            words = f"{what}, {threads} thread{'s' * (threads > 1)}: share of the roofline", f"at least {ROOFLINE_SHARE:g}"
            p = found.get((n, threads))
            rows.append(share_claim(words, p) if p else claim(*words))
        words = f"{what}: two threads against one", f"at least {ROOFLINE_SPEED_UP:g}× as fast"
        p = found.get((n, 2))
        rows.append(claim(*words, f"{p['speed_up']:.2f}×", p["speed_up"] >= ROOFLINE_SPEED_UP) if p else claim(*words))
    return rows
