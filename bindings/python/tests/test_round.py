"""A round over the network, with the server and the clients of the wheel."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import equipoise as eq


@pytest.fixture
def served(tmp_path: Path) -> Any:
    """A server with a small round, which validates uploads in child processes of this interpreter."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "equipoise", "serve", "--dev", "--listen", f"127.0.0.1:{port}", "--quiet"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, (tmp_path / "log").read_text()
    yield tmp_path / "equipoise-dev", f"https://localhost:{port}"
    process.send_signal(signal.SIGINT)
    process.wait(timeout=20)


def test_clients_submit_and_fetch_the_verified_model(served: tuple[Path, str], tmp_path: Path) -> None:
    dev, server = served
    site = {"server_key": dev / "data/server.pub", "ca": dev / "cert.pem"}
    round = eq.Round(server, "demo", **site)
    assert round.status()["state"] == "open"
    example = dev / "example"
    own = eq.make_proxy(example / "data/c3.csv", example / "schema.toml", fairness="sp")
    proxies = {"c1": example / "proxies/c1.parquet", "c2": example / "proxies/c2.parquet", "c3": own}
    for client, proxy in proxies.items():
        receipt = eq.submit(
            proxy,
            server=server,
            round="demo",
            key=dev / f"keys/{client}.key",
            receipt=tmp_path / f"{client}.receipt.json",
            **site,
        )
        assert receipt["receipt"]["client"] == client
    with pytest.raises(eq.RoundError, match="c1"):
        round.submit(example / "proxies/c2.parquet", key=dev / "keys/c1.key", receipt=tmp_path / "again.json")
    while round.status()["state"] != "published":
        time.sleep(0.2)
    model = round.model(tmp_path / "model", receipt=tmp_path / "c1.receipt.json")
    assert model.schema.digest == round.status()["schema_sha256"]


def test_an_unreachable_server_is_a_round_error(tmp_path: Path) -> None:
    with pytest.raises(eq.RoundError, match="cannot reach the server"):
        eq.Round("http://127.0.0.1:9", "demo").status()
    with pytest.raises(eq.RoundError, match="public key"):
        eq.Round("http://127.0.0.1:9", "demo").model(tmp_path / "model")
