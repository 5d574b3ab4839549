"""The result of a round."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .._model import Model
from .._server import FairServer
from ._messages import Evaluation

__all__ = ["Evaluation", "Outcome", "Seconds"]


class Seconds(NamedTuple):
    """How long the parts of a round took."""

    collect: float
    solve: float
    evaluate: float


@dataclass(frozen=True)
class Outcome:
    """The model of a round, and what became of every node.

    Attributes:
        server: The fitted `FairServer`: weights, verdict, audit, report.
        nodes: The node of each client that took part.
        refused: Who did not take part, and why: by the name of the client, or by the node if it has none.
        evaluations: The model's figures on the rows of each client, as the clients report them.
        not_evaluated: Which clients reported no figures, and why.
        unregistered: Clients whose names are their own word, because the SuperLink does not know them.
        seconds: The duration of each part.
    """

    server: FairServer
    nodes: dict[str, int]
    refused: dict[str, str]
    evaluations: dict[str, Evaluation]
    not_evaluated: dict[str, str]
    unregistered: list[str]
    seconds: Seconds

    @property
    def model(self) -> Model:
        """The published model."""
        model: Model = self.server.model_
        return model

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the files of `FairServer.save`, and nodes.json, to a new folder."""
        self.server.save(folder, force=force)
        Path(folder, "nodes.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Everything about the nodes, as in nodes.json."""
        return {
            "nodes": self.nodes,
            "refused": self.refused,
            "evaluations": {client: figures._asdict() for client, figures in self.evaluations.items()},
            "not_evaluated": self.not_evaluated,
            "unregistered": self.unregistered,
            "seconds": self.seconds._asdict(),
        }
