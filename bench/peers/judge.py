"""P at weights that another program found: judge.py PROBLEM.json WEIGHTS, a JSON list."""

import json
import sys

import numpy as np

from problem import Problem

with np.errstate(over="ignore"):
    print(float(Problem(sys.argv[1]).objective(json.loads(sys.argv[2]))))
