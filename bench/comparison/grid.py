"""Gauss–Newton against the paper's Adam on every round of the paper's grid."""

from .plan import GRID_EXCESS, GRID_SEEDS
from .wording import claim, table

NAMES = {"law-school": "Law School", "dutch": "Dutch"}
FAIRNESS = {"sp": "statistical parity", "eo": "equal opportunity"}
TITLE = "## The paper's grid: which solver ends lower\n"


def measure(env, options):
    """P at the last weights of both, a dictionary per round."""
    lines = env.example("grid_objectives", options.data, 1 if options.quick else GRID_SEEDS)
    return {"rounds": [line for line in lines if "excess" in line]}


def section(answer):
    rounds = answer["rounds"]
    seeds = len({r["seed"] for r in rounds})
    about = (
        f"{len(rounds)} rounds: 20, 40 and 60 % unreliable clients, realistic and ideal, {seeds} seed{'s' * (seeds > 1)}. "
        "Gauss–Newton with default settings and 2000 Adam steps (`--profile paper`) solve the same round; P is judged at the last "
        f"weights of each, at a model that is fitted anew as tightly as it can be. Same: to {GRID_EXCESS:g}.\n"
    )
    rows = []
    for key in dict.fromkeys((r["dataset"], r["fairness"]) for r in rounds):
        own = [r["excess"] for r in rounds if (r["dataset"], r["fairness"]) == key]
        lower, same, higher = counts(own)
        name = [NAMES.get(key[0], key[0]), FAIRNESS.get(key[1], key[1])]
        rows.append([*name, *map(str, (len(own), lower, same, higher)), signed(min(own)), signed(max(own))])
    columns = ["dataset", "fairness", ">rounds", ">Gauss–Newton lower", ">same", ">higher"]
    columns += [">least Gauss–Newton − Adam", ">most"]
    reported = max(r["gauss_newton"] - r["adam_reported"] for r in rounds)
    note = f"Against the P that Adam itself reports, at a model fitted to 10⁻⁷ only, the most is {signed(reported)}.\n"
    return "\n".join([TITLE, about, table(columns, rows) + "\n", note])


def signed(value):
    return f"{value:+.1e}" if value else "0"


def counts(excesses):
    """Rounds on which Gauss–Newton ends lower, the same, higher."""
    lower = sum(excess < -GRID_EXCESS for excess in excesses)
    higher = sum(excess > GRID_EXCESS for excess in excesses)
    return lower, len(excesses) - lower - higher, higher


def check(answer):
    what, wanted = "paper's grid: P of Gauss–Newton − P of Adam", f"at most {GRID_EXCESS:g} on every round"
    if not answer.get("rounds"):
        return [claim(what, wanted)]
    excesses = [r["excess"] for r in answer["rounds"]]
    lower, same, higher = counts(excesses)
    measured = f"{signed(max(excesses))} at most; of {len(excesses)} rounds lower on {lower}, same on {same}, higher on {higher}"
    return [claim(what, wanted, measured, higher == 0)]
