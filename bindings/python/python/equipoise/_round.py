"""The client of a round server."""

import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

from . import _core
from ._errors import EquipoiseWarning, RoundError
from ._model import Model
from ._proxy import Proxy

StrPath = str | os.PathLike[str]


class Round:
    """A round on a server: submit to it, ask for its state, download its model.

    `server_key` is the file with the server's public key, as received from the coordinator. With it, nothing is sent to a
    server that has another key. `ca` is a file with certificates to trust.
    """

    def __init__(self, server: str, name: str, *, server_key: StrPath | None = None, ca: StrPath | None = None) -> None:
        self.server = server
        self.name = name
        self.server_key = server_key
        self.ca = ca

    def status(self, *, token_file: StrPath | None = None) -> dict[str, Any]:
        """The state of the round. With the coordinator's token, also which clients have submitted."""
        return self._call("status", token_file=token_file)

    def submit(
        self,
        proxy: Proxy | StrPath,
        *,
        key: StrPath,
        client: str | None = None,
        schema: StrPath | None = None,
        audience: str | None = None,
        receipt: StrPath | None = None,
        retries: int | None = None,
    ) -> dict[str, Any]:
        """Submit a proxy, once, and return the server's signed receipt, which is also saved.

        The proxy is checked against the round's schema before anything is sent. An interrupted upload resumes.
        """
        options = {
            "server_key": self.server_key,
            "key": key,
            "client": client,
            "schema": schema,
            "audience": audience,
            "receipt": receipt,
            "retries": retries,
        }
        if isinstance(proxy, (str, os.PathLike)):
            return self._call("submit", os.fspath(proxy), **options)
        if not isinstance(proxy, Proxy):
            raise TypeError("submit needs a Proxy, as make_proxy returns it, or the path of one")
        with tempfile.TemporaryDirectory(prefix="equipoise-") as folder:
            # A proxy file says whose it is by its name.
            file = Path(folder) / f"{client or _name_in(key)}.parquet"
            proxy.save(file)
            return self._call("submit", str(file), **options)

    def model(self, folder: StrPath, *, receipt: StrPath | None = None) -> Model:
        """Download the published files into a new folder, verify them, and return the model."""
        if self.server_key is None:
            raise RoundError("verification needs the server's public key: pass server_key to Round")
        self._call("model", server_key=self.server_key, receipt=receipt, output=folder)
        return Model.load(Path(folder) / "model.json")

    def close(self, *, token_file: StrPath, wait: bool = False) -> dict[str, Any]:
        """Close the round as its coordinator, and start the solve."""
        return self._call("close", token_file=token_file, wait=wait)

    def _call(self, command: str, *arguments: str, **options: object) -> dict[str, Any]:
        given = {"server": self.server, "round": self.name, "ca": self.ca, **options}
        line = [command]
        for name, value in given.items():
            option = "--" + name.replace("_", "-")
            if value is True:
                line.append(option)
            elif value is not None and value is not False:
                line.append(f"{option}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
        document, yes, notes = _core.call([*line, "--", *arguments], True)
        for note in notes:
            warnings.warn(note, EquipoiseWarning, stacklevel=3)
        if not yes:
            raise RoundError(f"{command}: {document}")
        result: dict[str, Any] = document
        return result

    def __repr__(self) -> str:
        return f"<Round {self.name} at {self.server}>"


def _name_in(key: StrPath) -> str:
    """The client's name in its key file, which is the last word. The command reports a key that cannot be read."""
    try:
        words = Path(key).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        words = []
    return Path(words[-1]).name if words else "proxy"


def submit(
    proxy: Proxy | StrPath,
    *,
    server: str,
    round: str,
    key: StrPath,
    server_key: StrPath | None = None,
    ca: StrPath | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Submit a proxy to a round: `Round(server, round).submit(proxy, key=key)` in one call."""
    return Round(server, round, server_key=server_key, ca=ca).submit(proxy, key=key, **options)
