"""Shows the notebooks with their outputs."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from notebook import Rendered, executed, render

LINK = re.compile(r"\]\(([^)\s]+)\.ipynb\)")
_rendered: dict[str, Rendered] = {}


def on_files(files: Files, *, config: Any) -> Files:
    """Add a page for each notebook, and its images. The notebook itself stays, for download."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = render(executed(Path(file.abs_src_path)), Path(file.src_uri).stem)
        folder = file.src_uri.rpartition("/")[0]
        target = file.src_uri.removesuffix(".ipynb") + ".md"
        files.append(File.generated(config, target, content=page.markdown))
        for name, content in page.images.items():
            files.append(File.generated(config, f"{folder}/{name}", content=content))
        _rendered[target] = page
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Links to a notebook lead to its page."""
    markdown = LINK.sub(r"](\1.md)", markdown)
    if page.file.src_uri in _rendered:
        name = _rendered[page.file.src_uri].name
        markdown += f"\n---\n\nThis page is a notebook: [download it]({name}.ipynb) and run it.\n"
    return markdown


def on_page_content(html: str, *, page: Page, **_: Any) -> str:
    """Insert the HTML outputs."""
    rendered = _rendered.get(page.file.src_uri)
    return html if rendered is None else rendered.insert_html(html)
