"""The steps of a run: what came of each, how long it took, and what else the machine did meanwhile."""

import os
import time
import traceback
from pathlib import Path

from .environment import Failed, say
from .plan import expected_seconds

# Steps that are shorter tell nothing about what else the machine does.
LONG_ENOUGH = 2


class Steps:
    """Runs one step after the other. One that fails is told; the others go on."""

    def __init__(self, names, quick):
        self.names, self.quick, self.taken = names, quick, []
        self.started = time.monotonic()
        say(f"{len(names)} steps, about {minutes(self.left(0))} on an idle machine")

    def left(self, number):
        """Seconds that the steps from this one on are expected to take."""
        return sum(expected_seconds(name, self.quick) for name in self.names[number:])

    def do(self, name, work):
        """What `work` gives, or a dictionary that says why it failed."""
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
        except Exception as error:  # The steps before this one must not be lost.
            traceback.print_exc()
            answer = {"failed": f"{type(error).__name__}: {error}".replace(str(Path.cwd()), ".")}
        if answer.get("failed"):
            say(f"NOT MEASURED, {name}: {answer['failed']}")
        self.taken.append({"step": name, **watch.stop()})
        return answer


class Watch:
    """Processors that other programs kept busy since it was made."""

    def __init__(self):
        self.wall, self.busy, self.own = time.monotonic(), busy_seconds(), own_seconds()

    def stop(self):
        wall, busy = time.monotonic() - self.wall, busy_seconds()
        others = None
        if busy is not None and wall >= LONG_ENOUGH:
            others = max(0.0, busy - self.busy - (own_seconds() - self.own)) / wall
        return {"seconds": wall, "others": others}


def own_seconds():
    """Processor time of this program and of all that it waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def busy_seconds():
    """Processor time of the whole machine, what a hypervisor took away included; nothing where it is not told."""
    try:
        words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        user, nice, system, _idle, _waiting, *rest = (int(word) for word in words[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


def minutes(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
