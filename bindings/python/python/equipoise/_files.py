"""Files that the package itself reads."""

import os
from pathlib import Path

from ._errors import FileError


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a file."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(path)}: is not text") from error
