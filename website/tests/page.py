"""Runs the code blocks of a Markdown page, in order, in one folder.

`python` blocks share one namespace. A `text` block that directly follows one shows what it printed. `console` blocks hold
commands after `$ `, each followed by its output; they share one shell. A line with `…` alone stands for any lines. Times,
dates, durations and what depends on fresh keys may differ.
"""

import ast
import contextlib
import io
import re
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shell import Shell

import equipoise as eq

ANY_LINES = "…"
# The server's port on the pages. Tests use a free one instead.
PORT = "8443"
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?")
DURATION = re.compile(r"\b\d+(\.\d+)?(?= (s|ms|min)\b)")
FRESH_DIGEST = re.compile(r"\b(statement|key|fingerprint|head|token)(:?\s+)[0-9a-f]{8,}")


@dataclass
class Step:
    """Code, and the lines of the page that show its output."""

    kind: str
    line: int
    code: str
    shown: list[str] = field(default_factory=list)
    # The first of these lines and the one after the last. None: the page has no place for output.
    place: tuple[int, int] | None = None


def steps(text: str) -> Iterator[Step]:
    """The steps of a page."""
    lines = text.splitlines()
    for language, start, end in blocks(lines):
        if language == "python":
            place = output_place(lines, end + 1)
            shown = lines[slice(*place)] if place else []
            yield Step("python", start, "\n".join(lines[start:end]), shown, place)
        elif language == "console":
            yield from commands(lines, start, end)


def output_place(lines: list[str], after: int) -> tuple[int, int] | None:
    """The lines of a `text` block that follows with only empty lines in between."""
    language, start, end = next(blocks(lines, after), ("", 0, 0))
    is_next = not any(line.strip() for line in lines[after : start - 1])
    return (start, end) if language == "text" and is_next else None


def blocks(lines: list[str], first: int = 0) -> Iterator[tuple[str, int, int]]:
    """The code blocks: language, the first line, the one after the last."""
    i = first
    while i < len(lines):
        opening = re.fullmatch(r"(`{3,})(\w*).*", lines[i])
        i += 1
        if opening:
            start = i
            while i < len(lines) and lines[i] != opening.group(1):
                i += 1
            yield opening.group(2), start, i
            i += 1


def commands(lines: list[str], start: int, end: int) -> Iterator[Step]:
    """The commands of a console block."""
    i = start
    while i < end:
        if not lines[i].startswith("$ "):
            raise ValueError(f"line {i + 1} follows no command: {lines[i]!r}")
        first = i
        while lines[i].endswith("\\"):
            i += 1
        code = "\n".join(lines[first : i + 1])[2:]
        i += 1
        output = i
        while i < end and not lines[i].startswith("$ "):
            i += 1
        yield Step("console", first, code, lines[output:i], (output, i))


class Runner:
    """Runs steps in a folder and collects what differs from the page."""

    def __init__(self, folder: Path, port: str) -> None:
        self.port = port
        self.shell = Shell(folder)
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def printed(self, step: Step) -> list[str]:
        """What a step prints."""
        code = step.code.replace(PORT, self.port)
        output = self.shell.run(code) if step.kind == "console" else self._python(code)
        return [line.rstrip() for line in output.replace(self.port, PORT).splitlines()]

    def _python(self, code: str) -> str:
        """Runs a block and returns what it prints. Only the package itself may warn.

        Python does not show a reader what is deprecated in other packages, so that does not count.
        """
        output = io.StringIO()
        with contextlib.redirect_stdout(output), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            exec(compile(ast.parse(code), "<page>", "exec"), self.names)
        for warning in caught:
            is_hidden = issubclass(warning.category, DeprecationWarning) and warning.filename != "<page>"
            if not is_hidden and not issubclass(warning.category, eq.EquipoiseWarning):
                raise AssertionError(f"the block warns: {warning.message}")
        return output.getvalue()


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether printed lines are those shown, apart from `…` and what differs from run to run."""
    if not shown:
        return not printed
    if shown[0].strip() == ANY_LINES:
        return any(matches(shown[1:], printed[i:]) for i in range(len(printed) + 1))
    return bool(printed) and without_chance(shown[0]) == without_chance(printed[0]) and matches(shown[1:], printed[1:])


def without_chance(line: str) -> str:
    """The line without times, durations and fresh digests."""
    line = FRESH_DIGEST.sub(r"\1\2#", DURATION.sub("#", TIMESTAMP.sub("#", line)))
    return " ".join(line.split())


def check(page: Path, folder: Path, port: str) -> tuple[list[str], str]:
    """Runs a page. Returns what differs, and the page with the outputs that were printed."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    runner = Runner(folder, port)
    differences, replaced = [], []
    try:
        for step in steps(text):
            try:
                printed = runner.printed(step)
            except Exception:
                differences.append(f"{page}:{step.line + 1}: fails\n{step.code}\n{traceback.format_exc()}")
                break
            if step.place is None and not printed:
                continue
            if not matches(step.shown, printed):
                shown = "\n".join(step.shown)
                differences.append(
                    f"{page}:{step.line + 1}:\n{step.code}\n--- the page shows\n{shown}\n--- it prints\n"
                    + "\n".join(printed)
                )
                if step.place is not None:
                    replaced.append((step.place, printed))
    finally:
        runner.shell.close()
    for (start, end), printed in reversed(replaced):
        lines[start:end] = printed
    return differences, "\n".join(lines) + "\n"
