"""Shows files of the repository that pages link to, such as `../deploy/alerts.yml`, as pages of the site.

The links stay as they are in the Markdown files, so they also work where the repository is browsed.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

FOLDER = "source"
LINK = re.compile(r"\]\((\.\./[^)#\s]+)\)")
LANGUAGES = {".md": "markdown", ".py": "python", ".rs": "rust", ".service": "ini", ".toml": "toml", ".yml": "yaml"}


def on_files(files: Files, *, config: Any) -> Files:
    """Add a page for each file that lies outside the documentation and that a page links to."""
    repository = Path(config["config_file_path"]).parent
    linked = {path for file in files.documentation_pages() for path in outside(file.src_uri, file.content_string)}
    for path in sorted(linked):
        source = repository / path
        if not source.is_file():
            raise PluginError(f"a page links to {path}, which is not a file of the repository")
        files.append(File.generated(config, page_of(path), content=as_page(path, source.read_text(encoding="utf-8"))))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Point links to these files to their pages."""
    here = posixpath.dirname(page.file.src_uri)

    def replace(match: re.Match[str]) -> str:
        path = outside_path(page.file.src_uri, match.group(1))
        return match.group(0) if path is None else f"]({posixpath.relpath(page_of(path), here or '.')})"

    return LINK.sub(replace, markdown)


def outside(page: str, markdown: str) -> list[str]:
    """The paths in the repository of all links that leave the documentation."""
    paths = (outside_path(page, link) for link in LINK.findall(markdown))
    return [path for path in paths if path is not None]


def outside_path(page: str, link: str) -> str | None:
    """The path in the repository of a link, or None if it stays in the documentation."""
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if path.startswith("docs/") else path


def page_of(path: str) -> str:
    return f"{FOLDER}/{path}.md"


def as_page(path: str, text: str) -> str:
    """The file as a code block between fences that it does not contain."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    language = LANGUAGES.get(posixpath.splitext(path)[1], "text")
    return f"# {path}\n\n{fence}{language}\n{text.rstrip()}\n{fence}\n"
