"""Times one peer: run.py PEER PROBLEM.json STEPS REPEATS SECONDS THREADS. No repeat starts after SECONDS. Prints JSON."""

import json
import os
import sys
import time
from importlib import import_module

name, file, steps, repeats, budget, threads = sys.argv[1:]
steps, repeats, budget, threads = int(steps), int(repeats), float(budget), int(threads)
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
# Before NumPy is imported. The NumPy peer has threads of its own.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1" if name == "numpy_newton" else str(threads)

import numpy as np  # noqa: E402

from problem import Problem  # noqa: E402

problem = Problem(file)
peer = import_module(name).Peer(problem, threads, steps)
seconds = []
with np.errstate(over="ignore"):
    while not seconds or (len(seconds) < repeats and sum(seconds) < budget):
        started = time.perf_counter()
        weights = peer.solve()
        seconds.append(time.perf_counter() - started)
    objective = problem.objective(weights)
print(json.dumps({"seconds": seconds, "threads": threads, "objective": float(objective)}))
