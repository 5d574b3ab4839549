"""Where things run: our built examples, and the virtual environment of the peers."""

import hashlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

KEPT = Path("target/compare")
PEERS = Path("bench/peers")
EXAMPLES = ("save_problem", "solve_problem", "scaling")
MOST_SECONDS = 900


class Failed(Exception):
    """A command could not be run; the message is fit for the document."""


@dataclass
class Environment:
    """How to call our solver and the peers."""

    python: Path
    torch_python: Path | None
    examples: Path
    threads: int

    def example(self, name, *arguments):
        return run([self.examples / name, *arguments])

    def peer(self, name, *arguments, given=None):
        python = self.torch_python if name == "torch_lbfgs" else self.python
        return run([python, "-B", PEERS / f"{name}.py", *arguments], given)


def prepare(options):
    """Builds and installs what is needed; what is there already stays."""
    say("building the examples")
    build = ["cargo", "build", "--release", "--locked", "--package", "equipoise-lab"]
    examples = [word for name in EXAMPLES for word in ("--example", name)]
    subprocess.run([*build, *examples], check=True)
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"],
        check=True,
        capture_output=True,
    )
    target = Path(json.loads(metadata.stdout)["target_directory"])
    python = install("venv", "bench/requirements.txt")
    torch = install("venv-torch", "bench/requirements-torch.txt") if options.torch else None
    return Environment(python, torch, target / "release/examples", options.threads)


def install(name, requirements):
    """A virtual environment with these packages; its Python."""
    place, wanted = KEPT / name, Path(requirements).read_bytes()
    python, stamp = place / "bin/python", place / "installed"
    digest = hashlib.sha256(wanted + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        say(f"installing {requirements} into {place}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-r", requirements], check=True)
        stamp.write_text(digest)
    return python


def run(command, given=None):
    """Runs a command; the JSON documents that it printed, one a line."""
    try:
        done = subprocess.run(
            [str(word) for word in command],
            input=given,
            capture_output=True,
            text=True,
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"stopped after {MOST_SECONDS} s") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["no message"]
        print(done.stderr, file=sys.stderr)
        raise Failed(lines[-1].replace(str(Path.cwd()), "."))
    return [json.loads(line) for line in done.stdout.splitlines()]


def say(text):
    """Progress goes to stderr."""
    print(f"== {text}", file=sys.stderr, flush=True)
