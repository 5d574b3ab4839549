"""The explanation has the constants of the source."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "crates/equipoise-core/src/defense/trust/constants.rs"


def test_the_constants_are_those_of_the_source() -> None:
    defaults = SOURCE.read_text(encoding="utf-8").partition("fn default()")[2].partition("}\n    }")[0]
    source = {name: float(value) for name, value in re.findall(r"(\w+): ([\d.]+),", defaults)}
    page = (REPOSITORY / "docs/explanation.md").read_text(encoding="utf-8")
    shown = {name: float(value) for name, value in re.findall(r"^\| .+? \| `(\w+)` \| ([\d.]+) \|", page, re.MULTILINE)}
    assert len(shown) == 9
    assert shown == {name: source[name] for name in shown}
