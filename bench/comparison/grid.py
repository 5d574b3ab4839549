"""Gauss–Newton against the paper's Adam on every round of the paper's grid."""

from .plan import GRID_EXCESS, GRID_SEEDS
from .wording import claim, table

NAMES = {"law-school": "Law School", "dutch": "Dutch"}
FAIRNESS = {"sp": "statistical parity", "eo": "equal opportunity"}
TITLE = "## Objectives on the paper's grid\n"


def measure(env, options):
    """P at the final weights of both solvers, as a dictionary per round."""
    lines = env.example("grid_objectives", options.data, 1 if options.quick else GRID_SEEDS)
    return {"rounds": [line for line in lines if "excess" in line]}


def section(answer):
    rounds = answer["rounds"]
    seeds = len({r["seed"] for r in rounds})
    about = (
        f"{len(rounds)} rounds: 20, 40 and 60 % unreliable clients, realistic and ideal, {seeds} seed{'s' * (seeds > 1)}. "
        "Gauss–Newton with default settings and Adam with 2000 steps (`--profile paper`) solve the same rounds. P is evaluated at the final "
        f"weights of each, with the model refitted to the limit of floating-point precision. Same means equal to {GRID_EXCESS:g}.\n"
    )
    rows = []
    for key in dict.fromkeys((r["dataset"], r["fairness"]) for r in rounds):
        own = [r["excess"] for r in rounds if (r["dataset"], r["fairness"]) == key]
        lower, same, higher = counts(own)
        name = [NAMES.get(key[0], key[0]), FAIRNESS.get(key[1], key[1])]
        rows.append([*name, *map(str, (len(own), lower, same, higher)), signed(min(own)), signed(max(own))])
    columns = ["dataset", "fairness", ">rounds", ">Gauss–Newton lower", ">same", ">higher"]
    columns += [">minimum of Gauss–Newton − Adam", ">maximum"]
    reported = max(r["gauss_newton"] - r["adam_reported"] for r in rounds)
    note = f"Relative to the P that Adam reports, at a model fitted only to 10⁻⁷, the maximum is {signed(reported)}.\n"
    return "\n".join([TITLE, about, table(columns, rows) + "\n", note])


def signed(value):
    return f"{value:+.1e}" if value else "0"


def counts(excesses):
    """The numbers of rounds on which Gauss–Newton ends lower, equal and higher."""
    lower = sum(excess < -GRID_EXCESS for excess in excesses)
    higher = sum(excess > GRID_EXCESS for excess in excesses)
    return lower, len(excesses) - lower - higher, higher


def check(answer):
    what, limit = "paper's grid: P of Gauss–Newton − P of Adam", f"at most {GRID_EXCESS:g} on every round"
    if not answer.get("rounds"):
        return [claim(what, limit)]
    excesses = [r["excess"] for r in answer["rounds"]]
    lower, same, higher = counts(excesses)
    measured = f"at most {signed(max(excesses))}; of {len(excesses)} rounds, lower on {lower}, same on {same}, higher on {higher}"
    return [claim(what, limit, measured, higher == 0)]
