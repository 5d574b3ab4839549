"""After the round: is the published model the one to use at home?"""

import warnings
from typing import Any

from . import _core
from ._errors import EquipoiseWarning
from ._model import Model
from ._tables import Table, to_native


class Adapted:
    """The model to use at home, and the figures by which it was chosen.

    `model` is the one that `choose` names, the `recommended` one by default: "global", "adapted" or "own". `reason` says
    why it is recommended. `table` has one row for each of the three, a dict with accuracy, gap and their 95 % intervals;
    `pandas.DataFrame(adapted.table)` shows them side by side.
    """

    def __init__(self, model: Model, document: dict[str, Any]) -> None:
        self.model = model
        self.table: list[dict[str, Any]] = document["models"]
        self.recommended: str = document["recommended"]
        self.reason: str = document["reason"]

    def __repr__(self) -> str:
        return f"<Adapted: {self.recommended} is recommended, because {self.reason}>"


def adapt(model: Model, table: Table, proxy: Table | None = None, *, choose: str | None = None) -> Adapted:
    """Compare the published model on your rows with the same model at thresholds of your own, and with your own model.

    The thresholds, one per group, give all groups equal rates by the criterion that the model was made for. Every row is
    decided by thresholds and an own model that were made of the other four fifths of the rows. Nothing leaves this process.

    Args:
        model: The published model.
        table: Your raw rows with labels.
        proxy: Your proxy: your own model is then the one that anyone fits to it, and its figures are a little too good,
            because the proxy was made of all your rows. By default, it is a fair model of your rows.
        choose: The model to return, "global", "adapted" or "own"; by default the recommended one.

    Returns:
        The model, the table of figures, and which model is recommended and why.
    """
    native = None if proxy is None else to_native(proxy)
    document, chosen = _core.adapt(model._native, model._table(table), native, choose)
    for warning in document["warnings"]:
        warnings.warn(warning["message"], EquipoiseWarning, stacklevel=2)
    return Adapted(Model._of(chosen), document)
