"""The built site: it loads nothing from other hosts, and it is complete."""

import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "target" / "site"

# Attributes whose address the browser loads by itself. Links that a reader may follow (`a`) can lead anywhere.
LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
OFF_SITE = re.compile(r"^\s*([a-z][a-z0-9+.-]*:)?//|^\s*https?:", re.IGNORECASE)
CSS_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)["']?([^"')\s]+)""")


class Loads(HTMLParser):
    """Collects all addresses that a page loads, those in styles and embedded pages included."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        for name, value in attrs:
            if value is None:
                continue
            if name in LOADED.get(tag, ()) and not (tag == "link" and ("rel", "canonical") in attrs):
                self.addresses.append(value)
            elif name == "style":
                self.addresses += CSS_ADDRESS.findall(value)
            elif name == "srcdoc":
                self.addresses += loads(value)

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.addresses += CSS_ADDRESS.findall(data)


def loads(html: str) -> list[str]:
    """All addresses that a page loads."""
    parser = Loads()
    parser.feed(html)
    return parser.addresses


def pages() -> Iterator[Path]:
    return SITE.rglob("*.html")


def test_the_parser_finds_what_a_browser_loads() -> None:
    html = """<link rel=stylesheet href=//a><script src="https://b"></script><a href="https://no">link</a>
    <style>@import "https://c"; p { background: url(https://d/x.png) }</style><img src="data:image/png;base64,x">
    <iframe srcdoc="&lt;img src=&quot;https://e&quot;&gt;"></iframe><p style="background: url('https://f')">"""
    found = [address for address in loads(html) if OFF_SITE.match(address)]
    assert found == ["//a", "https://b", "https://c", "https://d/x.png", "https://e", "https://f"]


def test_nothing_is_loaded_from_other_hosts() -> None:
    checked = 0
    for path in pages():
        html = path.read_text(encoding="utf-8")
        off_site = [address for address in loads(html) if OFF_SITE.match(address)]
        assert not off_site, f"{path}: {off_site}"
        # The theme's program loads a library for such blocks.
        assert 'class="mermaid"' not in html, path
        checked += 1
    assert checked > 20
    for path in SITE.rglob("*.css"):
        off_site = [a for a in CSS_ADDRESS.findall(path.read_text(encoding="utf-8")) if OFF_SITE.match(a)]
        assert not off_site, f"{path}: {off_site}"


def test_every_loaded_file_exists() -> None:
    for path in pages():
        for address in loads(path.read_text(encoding="utf-8")):
            file = unescape(address).partition("#")[0].partition("?")[0]
            if file and not file.startswith("data:") and path.name != "404.html":
                assert (path.parent / file).exists(), f"{path}: {address}"


@pytest.mark.parametrize("command", ["demo", "schema infer", "round new", "arena"])
def test_the_reference_has_every_command(command: str) -> None:
    page = (SITE / "reference" / "command-line.html").read_text(encoding="utf-8")
    assert f"equipoise {command}" in page and "Usage: equipoise" in page


def test_the_reference_has_every_public_name() -> None:
    import equipoise

    page = (SITE / "reference" / "python.html").read_text(encoding="utf-8")
    missing = [name for name in equipoise.__all__ if f'id="equipoise.{name}"' not in page]
    assert missing == ["__version__"], missing
