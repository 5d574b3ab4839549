"""Files that the package itself writes."""

import os
from pathlib import Path

from ._errors import FileError


def write_text(path: str | os.PathLike[str], text: str, force: bool) -> None:
    """Write a file. An existing one is replaced only with `force`."""
    try:
        with Path(path).open("w" if force else "x", encoding="utf-8", newline="") as file:
            file.write(text)
    except FileExistsError as error:
        raise FileError(f"{os.fspath(path)}: already exists. Choose another name, or use force=True.") from error
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from error


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(path)}: is not text") from error
