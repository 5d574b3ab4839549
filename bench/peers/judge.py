"""P of given weights by the judge of all peers: `judge.py PROBLEM.json`, weights as a JSON list on standard input."""

import json
import sys

from problem import Problem

objective, residual = Problem(sys.argv[1]).judge(json.load(sys.stdin))
print(json.dumps({"objective": float(objective), "judged_gradient_norm": residual}))
