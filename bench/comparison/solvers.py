"""Runs Equipoise and the peers on one problem."""

import json
import statistics
import sys

from .environment import Failed, say
from .plan import NUMPY, OURS_ADAM, OURS_GAUSS_NEWTON, OURS_TRUST
from .turns import add_turn

# Trajectories agree as long as no weight differs by more than this.
SAME_WEIGHTS = 1e-6
SMALLER_TOLERANCE = 1e-9
OURS = (OURS_TRUST, OURS_GAUSS_NEWTON, OURS_ADAM)
# Solvers that take turns. The others take too long, or would compile again each time.
FAST = (*OURS, NUMPY)


def compare(env, problem, header):
    """All runs of a problem, as dictionaries. A failed run has the reason in `failed`."""
    entrants = [(OURS_TRUST, None), (OURS_GAUSS_NEWTON, None)]
    for contest in problem.contests:
        entrants += [(name, contest.steps) for name in (OURS_ADAM, *contest.peers)]
    runs = [judged(env, header, name, solve(env, problem, header, name, steps)) for name, steps in entrants]
    for _ in range(1, problem.turns):
        for (name, steps), run in zip(entrants, runs):
            if name in FAST and "failed" not in run:
                other = solve(env, problem, header, name, steps)
                if "failed" in other:
                    run["failed"] = other["failed"]
                else:
                    add_turn(run, other)
    for (name, _), run in zip(entrants, runs):
        if name == OURS_ADAM:
            reference = run
        elif name not in OURS:
            against(run, reference)
    sensitivity = None
    if problem.sensitivity and any(NUMPY in contest.peers for contest in problem.contests):
        sensitivity = measure_sensitivity(env, problem, header, runs)
    for run in runs:
        run.pop("path", None)
    return {"name": problem.name, "title": problem.title, "header": header, "runs": runs, "sensitivity": sensitivity}


def solve(env, problem, header, name, steps):
    """One turn of a solver."""
    return (ours if name in OURS else peer)(env, problem, header, name, steps)


def ours(env, problem, header, profile, steps):
    say(f"{problem.name}: equipoise, {profile}" + (f", {steps} steps" if steps else ""))
    limits = [problem.repeats_per_turn, problem.budget, env.threads]
    return finished(env.example("solve_problem", header["file"], profile, *limits, *([steps] if steps else []))[0])


def judged(env, header, name, run):
    """Evaluates the final weights of Equipoise. Peers do this themselves, with the same function."""
    if name in OURS:
        run.update(env.peer("judge", header["file"], given=json.dumps(run["path"][-1]))[0])
    return run


def peer(env, problem, header, name, steps, *more):
    say(f"{problem.name}: {name}, {steps} steps {' '.join(more)}")
    fast = name in FAST
    options = {
        "--steps": steps,
        "--repeats": problem.repeats_per_turn if fast else problem.repeats,
        "--budget": problem.budget if fast else problem.slow_budget,
        "--threads": env.threads,
    }
    arguments = [str(argument) for pair in options.items() for argument in pair] + list(more)
    try:
        return finished(env.peer(name, header["file"], *arguments)[0])
    except Failed as failure:
        say(f"FAILED {name}: {failure}")
        return {"solver": name, "steps": steps, "failed": str(failure)}


def finished(run):
    run["median"] = statistics.median(run["seconds"])
    print(f"   median {run['median']:.4g} s of {len(run['seconds'])}", file=sys.stderr, flush=True)
    return run


def against(run, reference):
    """Compares a peer with Equipoise after the same steps."""
    if "failed" in run:
        return
    run["ratio"] = run["median"] / reference["median"]
    run["difference"] = relative(run["objective"], reference["objective"])
    run["same_steps"] = same_steps(run["path"], reference["path"])


def relative(value, reference):
    return (value - reference) / abs(reference)


def same_steps(path, other):
    """How many steps of two trajectories start at the same weights."""
    for step, (here, there) in enumerate(zip(path, other)):
        if max(abs(a - b) for a, b in zip(here, there)) > SAME_WEIGHTS:
            return step
    return len(path) - 1


def measure_sensitivity(env, problem, header, runs):
    """How much the final objective of NumPy changes with a smaller inner tolerance."""
    usual = next(run for run in runs if run["solver"] == NUMPY)
    if "failed" in usual:
        return None
    tolerance = ["--tolerance", str(SMALLER_TOLERANCE), "--repeats", "1"]
    other = peer(env, problem, header, NUMPY, usual["steps"], *tolerance)
    if "failed" in other:
        return None
    return {
        "tolerance": SMALLER_TOLERANCE,
        "objective": other["objective"],
        "difference": relative(other["objective"], usual["objective"]),
        "same_steps": same_steps(other["path"], usual["path"]),
    }
