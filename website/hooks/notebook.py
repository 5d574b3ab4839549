"""Runs notebooks and turns them into Markdown with their outputs."""

import base64
import hashlib
import os
import re
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

SECONDS = 120
CACHE = Path(__file__).resolve().parents[2] / "target" / "notebooks"
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A warning names a temporary file of the kernel and repeats the line of code.
WARNING = re.compile(r"^\S*ipykernel_\S*:\d+: (\w+: .*)\n  .*\n?", re.MULTILINE)


def executed(path: Path) -> Any:
    """The notebook with its outputs. It runs again only if it or the installed package has changed."""
    source = path.read_text(encoding="utf-8")
    package = distribution("equipoise").read_text("RECORD") or ""
    cached = CACHE / f"{path.stem}-{hashlib.sha256((source + package).encode()).hexdigest()[:16]}.ipynb"
    if cached.exists():
        return nbformat.read(cached, as_version=4)
    notebook = run(nbformat.reads(source, as_version=4))
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"{path.stem}-*.ipynb"):
        old.unlink()
    nbformat.write(notebook, cached)
    return notebook


def run(notebook: Any) -> Any:
    """Run all cells in an empty folder. The command `equipoise` is that of this interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(home / "jupyter"),
            "MPLCONFIGDIR": str(home / "matplotlib"),
        }
        home.mkdir()
        work = Path(folder) / "work"
        work.mkdir()
        resources = {"metadata": {"path": str(work)}}
        options = {"kernel_name": "python3", "timeout": SECONDS, "coalesce_streams": True}
        NotebookClient(notebook, resources=resources, **options).execute(env=environment)
    return notebook


@dataclass
class Rendered:
    """A notebook as Markdown. HTML is inserted after the Markdown is converted, in place of `placeholder`."""

    name: str
    markdown: str = ""
    html: list[str] = field(default_factory=list)
    images: dict[str, bytes] = field(default_factory=dict)

    def insert_html(self, page: str) -> str:
        """The converted page with the HTML of the outputs."""
        for i, html in enumerate(self.html):
            page = page.replace(placeholder(i), f'<div class="output">{html}</div>')
        return page


def placeholder(i: int) -> str:
    return f'<div id="html-output-{i}"></div>'


def render(notebook: Any, name: str) -> Rendered:
    """Text cells as they are, code as code blocks, each followed by its outputs."""
    page = Rendered(name)
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.source.strip():
            parts.append(fenced(cell.source, "python"))
            parts += [part for output in cell.outputs if (part := _output(output, page))]
    page.markdown = "\n\n".join(parts) + "\n"
    return page


def _output(output: Any, page: Rendered) -> str:
    """One output of a cell: an image, HTML or text, whichever comes first."""
    if output.output_type == "stream":
        return _text(output.text)
    data = output.get("data", {})
    if "image/png" in data:
        image = f"{page.name}-{len(page.images) + 1}.png"
        page.images[image] = base64.b64decode(data["image/png"])
        return f"![Figure {len(page.images)}]({image})"
    if "text/html" in data:
        page.html.append(data["text/html"])
        return placeholder(len(page.html) - 1)
    return _text(data.get("text/plain", ""))


def _text(text: str) -> str:
    text = WARNING.sub(r"\1\n", ESCAPES.sub("", text)).rstrip()
    return fenced(text, "text") if text else ""


def fenced(text: str, language: str) -> str:
    """A code block with fences that the text does not contain."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
