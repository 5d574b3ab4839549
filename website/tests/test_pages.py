"""Every code block of the pages runs and prints what the page shows.

`EQUIPOISE_UPDATE_PAGES=1 website/test` writes the present output into the pages.
"""

import os
import socket
from pathlib import Path

import page
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Pages in capitals are older than the site: `cargo test` runs the commands of GUIDE and OPERATIONS.
PAGES = sorted(path for path in DOCS.rglob("*.md") if not path.stem.isupper())


def free_port() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_every_block_prints_what_the_page_shows(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    differences, updated = page.check(path, tmp_path, free_port())
    if os.environ.get("EQUIPOISE_UPDATE_PAGES"):
        path.write_text(updated, encoding="utf-8")
    assert not differences, "\n".join(differences)


def test_the_runner_finds_blocks_and_their_outputs() -> None:
    text = "```python\na = 1\nprint(a)\n```\n\n```text\n1\n```\n```console\n$ b \\\n  c\nout\n$ d\n```\n```sh\n$ no\n```\n"
    found = [(step.kind, step.code, step.shown) for step in page.steps(text)]
    assert found == [
        ("python", "a = 1\nprint(a)", ["1"]),
        ("console", "b \\\n  c", ["out"]),
        ("console", "d", []),
    ]


def test_text_after_prose_is_not_an_output() -> None:
    step = next(page.steps("```python\nb = 2\n```\nA file:\n```text\nx\n```\n"))
    assert step.place is None and step.shown == []


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\n…\nd", "a\nb\nc\nd", True),
        ("a\n…\nd", "a\nb", False),
        ("a", "a\nb", False),
        ("solved in 0.01 s and", "solved in 12 s and", True),
        ("3  2026-11-17T21:50:36Z  opened", "3 2027-01-01T00:00:00Z opened", True),
        ("statement 68589074…", "statement 0011aabb…", True),
        ("schema 68589074…", "schema 0011aabb…", False),
        ("gap 0.012", "gap 0.013", False),
    ],
)
def test_only_times_and_fresh_digests_may_differ(shown: str, printed: str, same: bool) -> None:
    assert page.matches(shown.splitlines(), printed.splitlines()) is same
