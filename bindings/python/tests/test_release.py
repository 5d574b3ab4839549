"""The script that makes releases: what it writes, and when it refuses."""

import datetime
import importlib.machinery
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "release"
MANIFEST = '[workspace]\nversion = "9.9.9"\n\n[workspace.package]\nversion = "0.1.0"\n\n[workspace.dependencies]\ncsv = { version = "0.1.0" }\n'
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Something.\n\n## [0.1.0] - 2026-01-01\n\n- First.\n"
DAY = datetime.date(2026, 2, 3)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("release", str(SCRIPT))
    spec = importlib.util.spec_from_loader("release", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_only_the_version_of_the_workspace_changes(script: ModuleType) -> None:
    written = script.with_version(MANIFEST, "0.2.0")
    assert script.current_version(written) == "0.2.0"
    assert written == MANIFEST.replace('package]\nversion = "0.1.0"', 'package]\nversion = "0.2.0"')
    real = (SCRIPT.parent / "Cargo.toml").read_text()
    assert script.current_version(script.with_version(real, "7.8.9")) == "7.8.9"


def test_unreleased_changes_get_a_version_and_a_date(script: ModuleType) -> None:
    written = script.dated_changelog(CHANGELOG, "0.2.0", DAY)
    assert written.startswith("# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-03\n\n### Added\n\n- Something.\n")
    assert written.endswith(CHANGELOG[CHANGELOG.index("## [0.1.0]") :])
    real = (SCRIPT.parent / "CHANGELOG.md").read_text()
    assert "This will be" not in script.dated_changelog(real, "7.8.9", DAY)


@pytest.mark.parametrize(
    ("changelog", "version", "problem"),
    [
        ("# Changelog\n", "0.2.0", "no line"),
        ("## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n\n- First.\n", "0.2.0", "nothing to release"),
        (CHANGELOG, "0.1.0", "already has a section"),
    ],
)
def test_a_changelog_that_cannot_be_right_is_refused(script: ModuleType, changelog: str, version: str, problem: str) -> None:
    with pytest.raises(script.Refused, match=problem):
        script.dated_changelog(changelog, version, DAY)


@pytest.mark.parametrize(
    ("version", "tags", "status", "problem"),
    [
        ("0.2.0", [], " M README.md\n", "README.md"),
        ("0.2.0", ["v0.2.0"], "", "tag v0.2.0 exists"),
        ("0.0.9", [], "", "not later"),
        ("0.1.0", ["v0.0.1"], "", "not later"),
        ("1.0", [], "", "not a version"),
        ("01.0.0", [], "", "not a version"),
        ("1.0.0-rc1", [], "", "not a version"),
    ],
)
def test_a_release_that_cannot_be_right_is_refused(
    script: ModuleType, version: str, tags: list[str], status: str, problem: str
) -> None:
    with pytest.raises(script.Refused, match=problem):
        script.checked(version, tags, MANIFEST, status)


def test_the_first_release_may_keep_its_version_and_10_is_later_than_9(script: ModuleType) -> None:
    script.checked("0.1.0", [], MANIFEST, "")
    script.checked("0.10.0", ["v0.9.0"], script.with_version(MANIFEST, "0.9.0"), "")


def test_datasets_and_keys_are_not_published_but_tests_are(script: ModuleType) -> None:
    for stray in ["equipoise-0.1.0/shared/data/x.csv", "shared/x", "a/b/dutch.csv", "a/law_school.csv", "a/server.key", "a/b.token"]:
        assert script.is_stray(stray), stray
    for kept in ["equipoise-0.1.0/crates/equipoise-cli/tests/shared/wire.rs", "equipoise/_server.py", "a/monkey.rs"]:
        assert not script.is_stray(kept), kept
