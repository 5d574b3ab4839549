"""Combines measurements taken in turns."""

import statistics


def add_turn(run, other, times=("seconds",)):
    """Adds the times and the peak memory of another turn."""
    for name in times:
        run[name] = run[name] + other[name]
    run["median"] = statistics.median(run["seconds"])
    # Peak memory is None on systems that do not report it.
    run["peak_bytes"] = max(filter(None, (run["peak_bytes"], other["peak_bytes"])), default=None)
