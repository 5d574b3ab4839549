"""What is measured in turns, so that each contender meets what else the machine does."""

import statistics


def add_turn(run, other, times=("seconds",)):
    """Adds the times of another turn, and takes its memory into account."""
    for name in times:
        run[name] = run[name] + other[name]
    run["median"] = statistics.median(run["seconds"])
    # A system that does not tell memory gives none.
    run["peak_bytes"] = max(filter(None, (run["peak_bytes"], other["peak_bytes"])), default=None)
