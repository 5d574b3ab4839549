"""Runs the Equipoise programs and the peers in their virtual environment."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

CACHE = Path("target/compare")
PEERS = Path("bench/peers")
EXAMPLES = ("save_problem", "solve_problem", "scaling", "grid_objectives", "large_round")
TIMEOUT_SECONDS = 900


class Failed(Exception):
    """A command failed. The message appears in the document."""


@dataclass
class Environment:
    """How to call Equipoise and the peers."""

    python: Path
    torch_python: Path | None
    release: Path
    threads: int

    def example(self, name, *arguments):
        return run([self.release / "examples" / name, *arguments])

    def printing_example(self, name, *arguments):
        """Runs an example that does not print JSON."""
        execute([self.release / "examples" / name, *arguments])

    def equipoise(self, *arguments, good=(0,)):
        """Runs `equipoise` and returns its time, peak resident memory and exit code."""
        return watched([self.release / "equipoise", *arguments], good)

    def peer(self, name, *arguments, given=None):
        python = self.torch_python if name == "torch_lbfgs" else self.python
        return run([python, "-B", PEERS / f"{name}.py", *arguments], given)


def prepare(options):
    """Builds and installs what is missing."""
    say("building")
    build = ["cargo", "build", "--release", "--locked", "--package", "equipoise-lab"]
    examples = [word for name in EXAMPLES for word in ("--example", name)]
    subprocess.run([*build, *examples], check=True)
    subprocess.run(["cargo", "build", "--release", "--locked", "--package", "equipoise-cli", "--bin", "equipoise"], check=True)
    bench = ["cargo", "bench", "--no-run", "--locked", "--package", "equipoise-core", "--bench", "roofline"]
    subprocess.run(bench, check=True)
    python = install("venv", "bench/requirements.txt")
    torch = install("venv-torch", "bench/requirements-torch.txt") if options.torch else None
    return Environment(python, torch, release_folder(), options.threads)


def release_folder():
    """The folder of cargo's release builds."""
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"],
        check=True,
        capture_output=True,
    )
    return Path(json.loads(metadata.stdout)["target_directory"]) / "release"


def install(name, requirements):
    """Creates a virtual environment with these packages and returns its Python."""
    folder, packages = CACHE / name, Path(requirements).read_bytes()
    python, stamp = folder / "bin/python", folder / "installed"
    digest = hashlib.sha256(packages + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        say(f"installing {requirements} into {folder}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", requirements], check=True)
        stamp.write_text(digest)
    return python


def run(command, given=None, good=(0,)):
    """Runs a command and returns the JSON documents it printed, one per line."""
    return [json.loads(line) for line in execute(command, given, good).splitlines()]


def execute(command, given=None, good=(0,)):
    """Runs a command and returns what it printed."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            input=given,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"stopped after {TIMEOUT_SECONDS} s") from None
    if done.returncode not in good:
        raise failed(done.stderr)
    return done.stdout


def watched(command, good):
    """Runs a command and returns its time, peak resident memory and exit code."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(
            [str(word) for word in command], stdout=subprocess.DEVNULL, stderr=messages
        )
        alarm = threading.Timer(TIMEOUT_SECONDS, process.kill)
        alarm.start()
        _, status, used = os.wait4(process.pid, 0)
        alarm.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in good:
            messages.seek(0)
            raise failed(messages.read() or f"exit code {process.returncode}")
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"seconds": time.perf_counter() - started, "peak_bytes": peak, "code": process.returncode}


def failed(messages):
    """The last line of the error output, without paths of this machine."""
    print(messages, file=sys.stderr)
    lines = messages.strip().splitlines() or ["no message"]
    return Failed(lines[-1].replace(str(Path.cwd()), "."))


def say(text):
    """Prints progress to stderr."""
    print(f"== {time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
