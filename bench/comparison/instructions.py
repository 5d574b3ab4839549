"""Instructions of the main paths, against those that are recorded."""

import json
import shutil
from pathlib import Path

from .environment import Failed, run
from .plan import INSTRUCTIONS_MORE, INSTRUCTIONS_QUICK
from .wording import claim, table

RECORD = Path("bench/instructions.json")
TITLE = "## Instructions of the main paths\n"


def measure(env, options):
    """Counts now and as recorded; as recorded alone where there is no valgrind."""
    if shutil.which("valgrind"):
        paths = INSTRUCTIONS_QUICK if options.quick else ()
        # 1: some path takes more than is recorded, which the table tells.
        return run(["bench/instructions", "--json", *paths], good=(0, 1))[0]
    if not RECORD.exists():
        raise Failed("valgrind is missing, and no counts are recorded")
    recorded = json.loads(RECORD.read_text())
    paths = [{"path": name, "recorded": count, "now": None} for name, count in recorded["paths"].items()]
    return {"recorded_with": recorded["compiler"], "compiler": None, "paths": paths}


def section(answer):
    if answer["compiler"]:
        about = (
            "`bench/instructions`: what callgrind counts on one thread, by the AVX2 kernel, on made-up rows. Unlike times, counts hardly depend on "
            f"the machine and on what else it does. Compiled with {answer['compiler']}"
        )
        recorded_with = answer["recorded_with"]
        about += f"; recorded with {recorded_with}.\n" if recorded_with not in (None, answer["compiler"]) else ".\n"
    else:
        about = f"Not counted in this run, for valgrind is missing; these counts are recorded, with {answer['recorded_with']}.\n"
    rows = [[f"`{p['path']}`", number(p["recorded"]), number(p["now"]), change(p)] for p in answer["paths"]]
    return "\n".join([TITLE, about, table(["path", ">recorded", ">now", ">change"], rows) + "\n"])


def number(count):
    return f"{count:,}" if count else "–"


def change(path):
    return f"{100 * (path['now'] / path['recorded'] - 1):+.2f} %" if path["now"] and path["recorded"] else "–"


def check(answer):
    words = "instructions of the main paths, against the recorded counts", f"at most {100 * INSTRUCTIONS_MORE:g} % more"
    both = [p for p in answer.get("paths", []) if p["now"] and p["recorded"]]
    if not both:
        return [claim(*words)]
    worst = max(both, key=lambda p: p["now"] / p["recorded"])
    missing = len(answer["paths"]) - len(both)
    measured = f"{change(worst)} at most (`{worst['path']}`), {len(both)} paths" + (f", {missing} not recorded" if missing else "")
    return [claim(*words, measured, not missing and worst["now"] <= (1 + INSTRUCTIONS_MORE) * worst["recorded"])]
