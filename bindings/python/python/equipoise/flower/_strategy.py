"""The server's side: one request for a proxy, one solve, one evaluation."""

import logging
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flwr.app import Message
from flwr.serverapp import Grid

from .. import _core
from .._errors import RoundError, SettingError, SolveError
from .._schema import Schema, as_schema
from .._server import FairServer, Trusted, native_trusted_rows
from .._tables import whole
from ._exchange import Answer, Exchange
from ._messages import (
    MODEL,
    PROXY,
    Evaluation,
    Refused,
    claimed_client,
    model_request,
    proxy_request,
    read_evaluation,
    read_proxy,
)
from ._outcome import Outcome, Seconds
from ._roster import Roster

# How often the strategy looks for nodes that have just connected.
_SECONDS_BETWEEN_LOOKS = 1.0

_log = logging.getLogger("flwr")


class OneShot:
    """A strategy of one round: collect a proxy from every node, defend, hand out the model and evaluate it.

    It is not a `flwr.serverapp.strategy.Strategy`, because nothing is averaged over rounds, but is started like one.

    Nodes are asked as soon as they connect. The round goes on when as many nodes have answered as clients have trusted rows, or
    after `timeout`. Who did not send a valid proxy by then is named in the outcome and does not take part.

    Args:
        schema: The schema that all parties agreed on, or the path of its file.
        trusted: Trusted raw rows, as in `FairServer.fit`. Their clients are the roster: no others take part.
        fairness: The criterion: "sp", "eo", "equalized-odds", "fpr", or a mixture such as "sp:0.5,eo:0.5".
        timeout: Seconds that the nodes have for their proxies, and again for evaluating the model.
        minimum: How many valid proxies the round needs.
        max_bytes: Maximum size of a proxy. Larger ones are refused, but only after Flower has received them.
        evaluate: Whether to hand out the model and ask the nodes for its figures on their rows.
        settings: Other parameters of `FairServer`, such as `defense` and `require`.
    """

    def __init__(
        self,
        schema: Schema | str | os.PathLike[str],
        trusted: Trusted,
        *,
        fairness: str = "sp",
        timeout: float = 3600.0,
        minimum: int = 1,
        max_bytes: int = 512 << 20,
        evaluate: bool = True,
        **settings: Any,
    ) -> None:
        if not timeout > 0:
            raise SettingError(f"timeout must be a positive number of seconds, found {timeout}")
        self.schema = as_schema(schema)
        # Read more than once.
        self.trusted = trusted if isinstance(trusted, (Mapping, str, os.PathLike)) else whole(trusted)
        self.timeout = timeout
        self.minimum = minimum
        self.max_bytes = max_bytes
        self.evaluate = evaluate
        self.server = FairServer(self.schema, fairness=fairness, allow_missing=True, **settings)
        # What is wrong here is reported before any node is asked for anything.
        _core.check_settings(self.server._options())
        self.clients, _ = self.schema._native.encode_trusted(native_trusted_rows(self.trusted))
        if not self.clients:
            raise SettingError("nobody could take part: the trusted rows must say whose they are, in the column `client`")
        if not 1 <= minimum <= len(self.clients):
            raise SettingError(
                f"minimum must be between 1 and the number of clients with trusted rows, {len(self.clients)}, found {minimum}"
            )

    def start(self, grid: Grid) -> Outcome:
        """Run the round."""
        with tempfile.TemporaryDirectory(prefix="equipoise-flower-") as folder:
            started = time.perf_counter()
            roster = self._collect(grid, Path(folder))
            collected = time.perf_counter()
            present, refused = roster.taken_part(), roster.refused(self.timeout)
            if len(present) < self.minimum:
                reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
                raise SolveError(f"{len(present)} of at least {self.minimum} clients sent a valid proxy. {reasons}")
            self.server.fit({client: path for client, (_, path) in present.items()}, self.trusted)
            solved = time.perf_counter()
        _log.info("equipoise: weights %s, verdict %s", self.server.weights_, self.server.verdict_)
        nodes = {client: node for client, (node, _) in present.items()}
        evaluations, not_evaluated = self._evaluate(grid, nodes) if self.evaluate else ({}, {})
        seconds = Seconds(collected - started, solved - collected, time.perf_counter() - solved)
        return Outcome(
            self.server, nodes, refused, evaluations, not_evaluated, roster.unregistered(), seconds
        )

    def _collect(self, grid: Grid, folder: Path) -> Roster:
        """Asks every node for its proxy, and validates what arrives."""
        roster = Roster(self.clients)
        exchange = Exchange(grid, self.timeout)
        request = proxy_request(self.schema.digest, self.server.fairness)
        while exchange.seconds_left > 0:
            for info in grid.get_nodes():
                if info.node_id not in exchange.asked:
                    roster.connected(info)
                    exchange.ask(info.node_id, PROXY, request)
            for answer in exchange.answers(_SECONDS_BETWEEN_LOOKS):
                self._receive(answer, roster, folder)
            if not exchange.pending and roster.is_complete():
                break
        # Replies that arrived in time while others were validated.
        for answer in exchange.answers(0.0):
            self._receive(answer, roster, folder)
        for node in exchange.pending:
            roster.refuse(node, f"it did not reply within {self.timeout:g} s")
        return roster

    def _receive(self, answer: Answer, roster: Roster, folder: Path) -> None:
        """Accepts or refuses one reply."""
        node, reply = answer
        try:
            if isinstance(reply, Exception):
                raise reply
            roster.claim(node, claimed_client(reply))
            proxy = self._validated(node, reply, roster, folder)
        except Refused as refused:
            _log.warning("equipoise: node %s refused: %s", node, refused)
            roster.refuse(node, str(refused))
        else:
            roster.accept(node, proxy)

    def _validated(self, node: int, reply: Message, roster: Roster, folder: Path) -> Path:
        """The canonical table of a proxy, written by the validator's process. No other bytes of a node are read."""
        client, schema, content = read_proxy(reply)
        roster.check(node, client)
        if schema != self.schema.digest:
            raise Refused(f"its proxy is for schema {schema[:8]}, the round's is {self.schema.digest[:8]}")
        if len(content) > self.max_bytes:
            raise Refused(f"its proxy has {len(content)} bytes, more than {self.max_bytes}")
        received, canonical = folder / f"{node}.received.parquet", folder / f"{node}.parquet"
        received.write_bytes(content)
        verdict = _core.validate_proxy(
            received, canonical, self.schema._native, sys.executable, ["-I", "-m", "equipoise"]
        )
        received.unlink()
        if verdict["verdict"] in ("value", "file"):
            raise Refused(f"the validator rejects its proxy: {verdict['message']}")
        if verdict["verdict"] != "valid":
            raise RoundError(f"a proxy cannot be validated: {verdict.get('message', 'the disk is full')}")
        _log.info("equipoise: %s sent %s rows, %s distinct", client, verdict["rows"], verdict["distinct_rows"])
        return canonical

    def _evaluate(self, grid: Grid, nodes: dict[str, int]) -> tuple[dict[str, Evaluation], dict[str, str]]:
        """Hands the model to the clients that took part, and collects their figures."""
        exchange = Exchange(grid, self.timeout)
        clients = {node: client for client, node in nodes.items()}
        request = model_request(self.server.model_.to_json())
        for node in clients:
            exchange.ask(node, MODEL, request)
        figures: dict[str, Evaluation] = {}
        failed: dict[str, str] = {}
        for node, reply in exchange.answers(self.timeout):
            try:
                if isinstance(reply, Exception):
                    raise reply
                figures[clients[node]] = read_evaluation(reply)
            except Refused as refused:
                failed[clients[node]] = str(refused)
        for node in exchange.pending:
            failed[clients[node]] = f"it did not reply within {self.timeout:g} s"
        return dict(sorted(figures.items())), dict(sorted(failed.items()))
