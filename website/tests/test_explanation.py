"""The explanation has the constants of the source."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "crates/equipoise-core/src/defense"


def test_the_constants_are_those_of_the_source() -> None:
    files = [SOURCE / "tilt.rs", *SOURCE.glob("tilt/*.rs")]
    found = [re.findall(r"const (\w+): f64 = ([\d.]+);", file.read_text(encoding="utf-8")) for file in files]
    source = {name: float(value) for constants in found for name, value in constants}
    page = (REPOSITORY / "docs/explanation.md").read_text(encoding="utf-8")
    shown = {name: float(value) for name, value in re.findall(r"^\| .+? \| `(\w+)` \| ([\d.]+) \|", page, re.MULTILINE)}
    assert len(shown) == 6
    assert shown == {name: source[name] for name in shown}
