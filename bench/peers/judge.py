"""Evaluates P at weights given as a JSON list on standard input: `judge.py PROBLEM.json`."""

import json
import sys

from problem import Problem

objective, residual = Problem(sys.argv[1]).judge(json.load(sys.stdin))
print(json.dumps({"objective": float(objective), "judged_gradient_norm": residual}))
