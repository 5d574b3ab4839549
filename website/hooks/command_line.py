"""Writes the reference of the command line from the help of every command."""

import os
import re
import subprocess
import sys
from typing import Any

from mkdocs.structure.files import File, Files

PAGE = "reference/command-line.md"

INTRODUCTION = """\
# Command line

This page is the output of `equipoise COMMAND --help` for every command. The Python package installs the same program. Commands print
results to stdout, and notes, warnings and progress to stderr.

"""


def on_files(files: Files, *, config: Any) -> Files:
    """Add the page."""
    files.append(File.generated(config, PAGE, content=reference()))
    return files


def reference() -> str:
    """The page: one section for each command, one below it for each of its subcommands."""
    return INTRODUCTION + "\n".join(sections([]))


def sections(command: list[str]) -> list[str]:
    """The section of a command, then those of its subcommands."""
    text = help_of(command)
    name = " ".join(["equipoise", *command])
    heading = "#" * max(2, len(command) + 1)
    found = [f"{heading} {name}\n\n```text\n{text}\n```\n"]
    for subcommand in subcommands(text):
        found += sections([*command, subcommand])
    return found


def help_of(command: list[str]) -> str:
    """What `--help` prints."""
    line = [sys.executable, "-m", "equipoise", *command, "--help"]
    done = subprocess.run(line, capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"})
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(line)} failed: {done.stderr}")
    return done.stdout.rstrip()


def subcommands(text: str) -> list[str]:
    """The names listed under `Commands:`."""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    if listed is None:
        return []
    names = re.findall(r"^  (\S+)  ", listed.group(1), re.MULTILINE)
    return [name for name in names if name != "help"]
