"""One shell for all commands of a page, so that variables, folders and background jobs carry over."""

import os
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

# The slowest command takes some seconds; a hanging one must not hold up all tests.
SECONDS = 120
END = "--- end of the output, exit code"


class Shell:
    """Bash in a folder, with the command `equipoise` of this interpreter."""

    def __init__(self, folder: Path) -> None:
        bin_folder = Path(sys.executable).parent
        environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def run(self, command: str) -> str:
        """What a command prints. An exit code of 2 or more is an error, unless the command handles it."""
        stdin = self._process.stdin
        assert stdin is not None
        # The last line restores the exit code for a command that asks for it.
        stdin.write(f'{command}\ncode=$?; echo; echo "{END} $code"; (exit $code)\n')
        stdin.flush()
        printed: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=SECONDS)
            except queue.Empty:
                raise TimeoutError(f"no answer after {SECONDS} s: {command}") from None
            if line is None:
                raise RuntimeError(f"the shell ended: {command}\n{''.join(printed)}")
            if line.startswith(END):
                code = int(line.removeprefix(END))
                break
            printed.append(line)
        # The empty line before the end marker.
        text = "".join(printed).removesuffix("\n")
        if code >= 2:
            raise RuntimeError(f"exit code {code}: {command}\n{text}")
        return text

    def close(self) -> None:
        """End the shell and all that it started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)
