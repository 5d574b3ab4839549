"""Reports that notebooks show inline."""

import html
import os

from . import _core


class Report:
    """A self-contained HTML page. A notebook shows it when it is the last value of a cell."""

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the page to a file. An existing file is replaced only with `force`."""
        _core.write_text(path, self.html, force)

    def _repr_html_(self) -> str:
        # A frame keeps the page's style away from the notebook's.
        page = html.escape(self.html, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 48rem; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<Report, {len(self.html)} characters of HTML; save(path) writes it>"
