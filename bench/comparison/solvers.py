"""Runs ours and the peers on one problem."""

import json
import statistics
import sys

from .environment import Failed, say
from .plan import DISTINCT, NUMPY, OURS_ADAM, OURS_GAUSS_NEWTON

# Paths agree as long as no weight differs by more than this.
SAME_PATH = 1e-6
FIRMER_TOLERANCE = 1e-9


def compare(env, problem, header):
    """All runs of a problem. Every run is a dictionary; `failed` says why one is without figures."""
    runs = [ours(env, problem, header, OURS_GAUSS_NEWTON, None)]
    for contest in problem.contests:
        reference = ours(env, problem, header, OURS_ADAM, contest.steps)
        runs.append(reference)
        for name in contest.peers:
            runs.append(against(peer(env, problem, header, name, contest.steps), reference))
    firmness = None
    if problem.firmness and any(NUMPY in contest.peers for contest in problem.contests):
        firmness = measure_firmness(env, problem, header, runs)
    for run in runs:
        run.pop("path", None)
    return {"name": problem.name, "title": problem.title, "header": header, "runs": runs, "firmness": firmness}


def ours(env, problem, header, profile, steps):
    say(f"{problem.name}: ours, {profile}" + (f", {steps} steps" if steps else ""))
    limits = [problem.repeats, problem.budget, env.threads]
    run = env.example("solve_problem", header["file"], profile, *limits, *([steps] if steps else []))[0]
    run.update(env.peer("judge", header["file"], given=json.dumps(run["path"][-1]))[0])
    return finished(run)


def peer(env, problem, header, name, steps, *more):
    say(f"{problem.name}: {name}, {steps} steps {' '.join(more)}")
    fast = name in (NUMPY, DISTINCT)
    options = {
        "--steps": steps,
        "--repeats": problem.repeats,
        "--budget": problem.budget if fast else problem.slow_budget,
        "--threads": env.threads,
    }
    words = [str(word) for pair in options.items() for word in pair] + list(more)
    script = name
    if name == DISTINCT:
        script, words = NUMPY, [*words, "--distinct"]
    try:
        return finished(env.peer(script, header["file"], *words)[0])
    except Failed as failure:
        say(f"FAILED {name}: {failure}")
        return {"solver": name, "steps": steps, "failed": str(failure)}


def finished(run):
    run["median"] = statistics.median(run["seconds"])
    text = f"   median {run['median']:.4g} s of {len(run['seconds'])}, P {run['objective']:.10g}"
    print(text, file=sys.stderr, flush=True)
    return run


def against(run, reference):
    """Adds how a peer's run compares with ours of the same steps."""
    if "failed" in run:
        return run
    run["ratio"] = run["median"] / reference["median"]
    run["difference"] = relative(run["objective"], reference["objective"])
    run["same_path"] = same_steps(run["path"], reference["path"])
    return run


def relative(value, reference):
    return (value - reference) / abs(reference)


def same_steps(path, other):
    """How many steps two paths begin at the same weights."""
    for step, (here, there) in enumerate(zip(path, other)):
        if max(abs(a - b) for a, b in zip(here, there)) > SAME_PATH:
            return step
    return len(path) - 1


def measure_firmness(env, problem, header, runs):
    """How much NumPy's own last objective moves with another inner tolerance."""
    usual = next(run for run in runs if run["solver"] == NUMPY)
    if "failed" in usual:
        return None
    tolerance = ["--tolerance", str(FIRMER_TOLERANCE), "--repeats", "1"]
    other = peer(env, problem, header, NUMPY, usual["steps"], *tolerance)
    if "failed" in other:
        return None
    return {
        "tolerance": FIRMER_TOLERANCE,
        "objective": other["objective"],
        "difference": relative(other["objective"], usual["objective"]),
        "same_path": same_steps(other["path"], usual["path"]),
    }
