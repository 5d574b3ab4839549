"""What every peer shares: its command line, repeats, and the JSON document that it prints.

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
    """The command line. The process is held to as many processors as it may have threads."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("problem", help="header of a saved problem")
    parser.add_argument("--steps", type=int, default=2000, help="Adam steps; ρ rises accordingly")
    parser.add_argument("--repeats", type=int, default=5, help="timed repeats")
    parser.add_argument("--budget", type=float, default=60, help="seconds after which no repeat begins")
    parser.add_argument("--threads", type=int, default=2, help="most threads, BLAS threads among them")
    parser.add_argument("--tolerance", type=float, help="of the inner gradient, instead of the problem's")
    parser.add_argument("--distinct", action="store_true", help="merge equal rows first (numpy_newton)")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    return options


def limit_blas(threads):
    """Before NumPy is imported, or it has no effect."""
    for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR"):
        os.environ[f"{name}_NUM_THREADS"] = str(threads)


# A way that comes later, with more threads, must take at most this share of the best before it: more threads are the more
# easily disturbed.
WORTH_IT = 0.9


def fastest(ways, use, run, tries=15):
    """Tries each way, keeps the fastest, and tells the median seconds of each."""
    seconds = {}
    for way in ways:
        use(way)
        run()
        seconds[way] = statistics.median(timed(run)[0] for _ in range(tries))
    best = ways[0]
    for way in ways[1:]:
        if seconds[way] < WORTH_IT * seconds[best]:
            best = way
    use(best)
    return best, seconds


def timed(run):
    """Seconds of a call, and what it gave."""
    started = time.perf_counter()
    result = run()
    return time.perf_counter() - started, result


def repeat(solve, options, warm_up):
    """Seconds of each repeat, and what the last one gave. `warm_up` runs before them and is not counted."""
    warm_up()
    seconds = []
    while not seconds or (len(seconds) < options.repeats and sum(seconds) < options.budget):
        last, result = timed(solve)
        seconds.append(last)
    return seconds, result


def peak_bytes():
    """The most memory that this process has had at any time."""
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
    """Judges the last weights of the path and prints the document. Memory is read before the judge allocates."""
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
