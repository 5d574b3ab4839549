"""Saves problems."""

import hashlib
import json

from .environment import CACHE, say


def save(env, problem, options):
    """Saves a problem, unless it exists, and returns its header."""
    folder = CACHE / "problems"
    file = folder / f"{problem.name}.json"
    if options.fresh or not file.exists():
        say(f"saving the problem {problem.name}")
        env.example("save_problem", problem.name, folder, options.data)
    header = json.loads(file.read_text())
    header["file"] = str(file)
    header["sha256"] = hashlib.sha256(file.with_suffix(".bin").read_bytes()).hexdigest()
    return header
