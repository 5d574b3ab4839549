"""Instruction counts of the main paths, compared with the recorded counts."""

import json
import shutil
from pathlib import Path

from .environment import Failed, run
from .plan import INSTRUCTIONS_QUICK, MAX_MORE_INSTRUCTIONS
from .wording import claim, table

RECORD = Path("bench/instructions.json")
TITLE = "## Instruction counts\n"


def measure(env, options):
    """Current and recorded counts, or only the recorded ones without valgrind."""
    if shutil.which("valgrind"):
        paths = INSTRUCTIONS_QUICK if options.quick else ()
        # Exit code 1 means that a count increased. The table shows it.
        return run(["bench/instructions", "--json", *paths], good=(0, 1))[0]
    if not RECORD.exists():
        raise Failed("valgrind is not installed, and there are no recorded counts")
    recorded = json.loads(RECORD.read_text())
    paths = [{"path": name, "recorded": count, "now": None} for name, count in recorded["paths"].items()]
    return {"recorded_with": recorded["compiler"], "compiler": None, "paths": paths}


def section(answer):
    if answer["compiler"]:
        about = (
            "Counted by `bench/instructions` with callgrind, on one thread, with the AVX2 kernel, on synthetic rows. Unlike times, counts hardly "
            f"depend on the machine and its load. Compiled with {answer['compiler']}"
        )
        recorded_with = answer["recorded_with"]
        about += f"; recorded with {recorded_with}.\n" if recorded_with not in (None, answer["compiler"]) else ".\n"
    else:
        about = f"Not counted in this run, because valgrind is not installed. The recorded counts are from {answer['recorded_with']}.\n"
    rows = [[f"`{p['path']}`", number(p["recorded"]), number(p["now"]), change(p)] for p in answer["paths"]]
    return "\n".join([TITLE, about, table(["path", ">recorded", ">now", ">change"], rows) + "\n"])


def number(count):
    return f"{count:,}" if count else "–"


def change(path):
    return f"{100 * (path['now'] / path['recorded'] - 1):+.2f} %" if path["now"] and path["recorded"] else "–"


def check(answer):
    limit = "instruction counts, compared with the recorded ones", f"at most {100 * MAX_MORE_INSTRUCTIONS:g} % more"
    both = [p for p in answer.get("paths", []) if p["now"] and p["recorded"]]
    if not both:
        return [claim(*limit)]
    worst = max(both, key=lambda p: p["now"] / p["recorded"])
    missing = len(answer["paths"]) - len(both)
    measured = f"at most {change(worst)} (`{worst['path']}`), {len(both)} paths" + (f", {missing} not recorded" if missing else "")
    return [claim(*limit, measured, not missing and worst["now"] <= (1 + MAX_MORE_INSTRUCTIONS) * worst["recorded"])]
