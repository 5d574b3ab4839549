"""Shared by all peers: command line, repeats and JSON output.

    peer.py PROBLEM.json --steps 2000 --repeats 5 --threads 2
"""

import argparse
import json
import os
import platform
import statistics
import time
from importlib import metadata
from pathlib import Path


def arguments(description):
    """Parses the command line, and pins the process to as many processors as it may use threads."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("problem", help="header of a saved problem")
    parser.add_argument("--steps", type=int, default=2000, help="Adam steps; the schedule of ρ scales with them")
    parser.add_argument("--repeats", type=int, default=5, help="timed repeats")
    parser.add_argument("--budget", type=float, default=60, help="seconds after which no repeat starts")
    parser.add_argument("--threads", type=int, default=2, help="maximum number of threads, including BLAS")
    parser.add_argument("--tolerance", type=float, help="inner gradient tolerance (default: the problem's)")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    return options


def limit_blas(threads):
    """Must be called before NumPy is imported."""
    for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)


# A later candidate, which uses more threads, must beat the best so far by this factor, because background load affects
# more threads more.
REQUIRED_GAIN = 0.9


def fastest(candidates, use, run, tries=15):
    """Tries each candidate and keeps the fastest. Returns it and the median seconds of each."""
    seconds = {}
    for candidate in candidates:
        use(candidate)
        run()
        seconds[candidate] = statistics.median(timed(run)[0] for _ in range(tries))
    best = candidates[0]
    for candidate in candidates[1:]:
        if seconds[candidate] < REQUIRED_GAIN * seconds[best]:
            best = candidate
    use(best)
    return best, seconds


def timed(run):
    """The seconds and the result of a call."""
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def repeat(solve, options, warm_up):
    """The seconds of each repeat and the result of the last one, after an untimed `warm_up`."""
    warm_up()
    seconds = []
    while not seconds or (len(seconds) < options.repeats and sum(seconds) < options.budget):
        last, result = timed(solve)
        seconds.append(last)
    return seconds, result


def peak_bytes():
    """The peak resident memory of this process."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else 1024 * peak


def report(options, problem, libraries, seconds, path, **more):
    """Evaluates the final weights and prints the results. Memory is read before the evaluation allocates any."""
    peak = peak_bytes()
    objective, residual = problem.judge(path[-1])
    answer = {
        "problem": problem.name,
        "steps": options.steps,
        "tolerance": problem.tolerance,
        "seconds": seconds,
        "path": [[float(w) for w in weights] for weights in path],
        "objective": float(objective),
        "judged_gradient_norm": residual,
        "peak_bytes": peak,
        "versions": {name: metadata.version(name) for name in libraries},
        **more,
    }
    print(json.dumps(answer))
