"""Runs steps and records their results, times and the load from other programs."""

import os
import time
import traceback
from pathlib import Path

from .environment import Failed, say
from .plan import expected_seconds

# The load from other programs is not measured during shorter steps.
MIN_SECONDS = 2


class Steps:
    """Runs one step after the other, and continues if one fails."""

    def __init__(self, names, quick):
        self.names, self.quick, self.taken = names, quick, []
        self.started = time.monotonic()
        say(f"{len(names)} steps, about {minutes(self.left(0))} on an idle machine")

    def left(self, number):
        """Expected seconds of this step and all later ones."""
        return sum(expected_seconds(name, self.quick) for name in self.names[number:])

    def do(self, name, work):
        """The result of `work`, or a dictionary with the reason for its failure."""
        number = len(self.taken)
        say(
            f"STEP {number + 1} of {len(self.names)}: {name} "
            f"({minutes(time.monotonic() - self.started)} so far, about {minutes(self.left(number))} left)"
        )
        watch = Watch()
        answer = {}
        try:
            answer = work()
        except Failed as failure:
            answer = {"failed": str(failure)}
        except Exception as error:  # Keep the results of earlier steps.
            traceback.print_exc()
            answer = {"failed": f"{type(error).__name__}: {error}".replace(str(Path.cwd()), ".")}
        if answer.get("failed"):
            say(f"NOT MEASURED, {name}: {answer['failed']}")
        self.taken.append({"step": name, **watch.stop()})
        return answer


class Watch:
    """Measures how many processors other programs keep busy."""

    def __init__(self):
        self.wall, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def stop(self):
        wall, busy = time.monotonic() - self.wall, busy_seconds()
        others = None
        if busy is not None and wall >= MIN_SECONDS:
            others = max(0.0, busy - self.busy - (own_seconds() - self.own)) / wall
        return {"seconds": wall, "others": others}


def own_seconds():
    """CPU time of this program and its finished children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def busy_seconds():
    """CPU time of the whole machine, including time stolen by a hypervisor, or None if unknown."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _idle, _waiting, *rest = (int(field) for field in fields[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
