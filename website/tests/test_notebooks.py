"""The notebooks run, are committed without outputs, and become pages."""

import base64
from pathlib import Path

import nbformat
import pytest
from notebook import executed, placeholder, render

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["arena", "five-organisations", "quick-start"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None, cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_a_figure(path: Path) -> None:
    page = render(executed(path), path.stem)
    assert page.images and page.markdown.startswith("# ")


def test_outputs_become_text_images_and_html() -> None:
    display = nbformat.v4.new_output
    png = base64.b64encode(b"image").decode()
    outputs = [
        display("stream", text="\x1b[1mbold\x1b[0m\n"),
        display("stream", name="stderr", text="/tmp/ipykernel_1/2.py:3: UserWarning: careful\n  a\n"),
        display("display_data", data={"image/png": png, "text/plain": "<Figure>"}),
        display("execute_result", data={"text/html": "<b>x</b>", "text/plain": "x"}),
    ]
    cells = [nbformat.v4.new_markdown_cell("# Title"), nbformat.v4.new_code_cell("a", outputs=outputs)]
    page = render(nbformat.v4.new_notebook(cells=cells), "name")
    assert "```text\nbold\n```" in page.markdown and "```text\nUserWarning: careful\n```" in page.markdown
    assert "![Figure 1](name-1.png)" in page.markdown and page.images == {"name-1.png": b"image"}
    assert placeholder(0) in page.markdown
    assert page.insert_html(placeholder(0)) == '<div class="output"><b>x</b></div>'
