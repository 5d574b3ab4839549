"""A shell for the commands of a Markdown page, whose processes all end with it."""

import os
import random
import re
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

END = "__end__"


def blocks(page: Path) -> list[str]:
    """The `sh` blocks of a page."""
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def free_ports(n: int) -> list[int]:
    """Ports in a row that nobody listens on, below those that systems hand out by themselves."""
    while True:
        first = random.randrange(16_000, 30_000)
        if all(_is_free(first + i) for i in range(n)):
            return [first + i for i in range(n)]


def _is_free(port: int) -> bool:
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


class Shell:
    """A bash that stays alive, so that its processes can be found."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, commands: str, seconds: float = 400.0) -> str:
        """Runs commands, each of which must succeed, and returns what they print."""
        assert self._bash.stdin is not None and self._bash.stdout is not None
        # A subshell would own the background processes, so the commands run in this one.
        self._bash.stdin.write(f"set -e -o pipefail\n{commands}\nset +e; echo {END}\n")
        self._bash.stdin.flush()
        printed: list[str] = []
        watchdog = threading.Timer(seconds, self.close)
        watchdog.start()
        try:
            for line in self._bash.stdout:
                if line == f"{END}\n":
                    return "".join(printed)
                printed.append(line)
        finally:
            watchdog.cancel()
        raise AssertionError(f"the commands failed, or took more than {seconds} s:\n{commands}\n{''.join(printed)}")

    def processes(self) -> Iterator[psutil.Process]:
        """All processes that were started here and are still there."""
        try:
            yield from psutil.Process(self._bash.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return

    def close(self) -> None:
        """Ends all processes, the children of children too."""
        started = list(self.processes())
        for process in started:
            _signal(process, "terminate")
        _, alive = psutil.wait_procs(started, timeout=5)
        for process in alive:
            _signal(process, "kill")
        self._bash.kill()
        self._bash.wait()


def _signal(process: psutil.Process, name: str) -> None:
    try:
        getattr(process, name)()
    except psutil.NoSuchProcess:
        pass
