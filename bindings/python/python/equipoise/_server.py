"""The server's side: from proxies and trusted rows to one model."""

import json
import os
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._errors import EquipoiseWarning, SettingError, SolveError, TableError
from ._model import Floats, Model
from ._params import Parameters
from ._progress import Progress, reporting
from ._report import Report
from ._schema import Schema, as_schema
from ._tables import Table, to_native, whole

if TYPE_CHECKING:
    from ._other_model import OtherModel
    from .dask import Engine

Clients = Mapping[str, Table] | str | os.PathLike[str]

# One table, the table of each client, a file or a folder.
Trusted = Mapping[str, Table] | Table


def defend(
    proxies: Clients,
    trusted: Trusted,
    schema: Schema | str | os.PathLike[str],
    *,
    engine: "str | Engine | None" = None,
    progress: Progress = False,
    **settings: Any,
) -> "FairServer":
    """Run the defense on a round: `FairServer(schema, **settings)`, fitted."""
    return FairServer(schema, **settings).fit(proxies, trusted, progress=progress, engine=engine)


class FairServer(Parameters):
    """Weight the clients' proxies using trusted rows (the root), and produce one model that is accurate and fair.

    The parameters are the options of the command `defend`; those that are None keep the profile's value. The model is the
    same as that of the command line, bit for bit.

    With `estimator`, any scikit-learn classifier is trained as well: on all proxies, with the learned weights of the
    clients as sample weights, and with a threshold for each group if the schema lets the model use the group. It then
    makes the predictions.

    Args:
        schema: The schema that all parties agreed on, or the path of its file.
        fairness: The criterion: "sp", "eo", "equalized-odds", "fpr", or a mixture such as "sp:0.5,eo:0.5".
        defense: "tilt" (the default), "bilevel", "pooled", "fedasl", "fednolowe" or "root-only".
        require: What the model must achieve on the root, such as "gap=0.05,accuracy=0.75".
        profile: Which settings to start from: "default" or "paper".
        estimator: A scikit-learn classifier to train on the weighted proxies.
        root_weighting: How bilevel weights root rows: "pooled" or "client".
        inner: The solver of each fit: "newton", or "lbfgs" with the profile "paper".
        lambda_: Regularisation strength of the model.
        iterations: Maximum number of steps of bilevel.
        learning_rate: Adam's learning rate, with the profile "paper".
        inner_tolerance: Gradient norm at which a fit counts as converged.
        rho_start: Initial factor of bilevel's fairness penalty.
        rho_max: Its final factor.
        no_fallback: Keep the clients' model even if a model of the root alone is provably better.
        allow_missing: Go on without clients that have trusted rows but no proxy, and name them in the outcome.
        sweep: Also compute the trade-off between accuracy and fairness, for the report.

    Attributes:
        weights_ (dict[str, float]): The weight of each client.
        verdict_ (str): "pass", "fail", "unknown", or "none" if nothing was required.
        model_ (Model): The linear model.
        coef_ (NDArray): Its coefficients, without the intercept.
        intercept_ (NDArray): Its intercept.
        outcome_ (dict[str, Any]): All of outcome.json: figures, judgements, reasons, settings.
        audit_ (dict[str, dict[str, Any]]): What an auditor asks about each client, beginning with a `reason`.
        warnings_ (list[str]): What a reader must know about the model.
        estimator_ (Any): The fitted `estimator`.
        estimator_figures_ (dict[str, dict[str, Any]]): Accuracy and gap on the root of the estimator and of the linear model.
        thresholds_ (dict[str, float]): The probability above which the estimator selects a row of each group.
    """

    def __init__(
        self,
        schema: Schema | str | os.PathLike[str] | None = None,
        *,
        fairness: str = "sp",
        defense: str | None = None,
        require: str | None = None,
        profile: str | None = None,
        estimator: Any = None,
        root_weighting: str | None = None,
        inner: str | None = None,
        lambda_: float | None = None,
        iterations: int | None = None,
        learning_rate: float | None = None,
        inner_tolerance: float | None = None,
        rho_start: float | None = None,
        rho_max: float | None = None,
        no_fallback: bool = False,
        allow_missing: bool = False,
        sweep: bool = False,
    ) -> None:
        self.schema = schema
        self.fairness = fairness
        self.defense = defense
        self.require = require
        self.profile = profile
        self.estimator = estimator
        self.root_weighting = root_weighting
        self.inner = inner
        self.lambda_ = lambda_
        self.iterations = iterations
        self.learning_rate = learning_rate
        self.inner_tolerance = inner_tolerance
        self.rho_start = rho_start
        self.rho_max = rho_max
        self.no_fallback = no_fallback
        self.allow_missing = allow_missing
        self.sweep = sweep

    def fit(
        self, proxies: Clients, trusted: Trusted, *, progress: Progress = False, engine: "str | Engine | None" = None
    ) -> "FairServer":
        """Run the defense on a round.

        Args:
            proxies: One proxy (encoded rows) per client, as a mapping from client to table, or a folder with a file each.
            trusted: Trusted raw rows: one table, or a mapping from client to table, or the path of a file or of a folder with
                a file each. In one table, the column `client` says whose a row is, unless the schema has a column of that
                name. Its cells may be empty, and the column may be absent. Clients without trusted rows take part too.
            progress: True shows a progress bar, which needs tqdm; a function gets steps done and steps in all.
            engine: "dask" lets Dask workers hold the proxies and sum their rows; see `equipoise.dask`. The model is the same.
        """
        if self.allow_missing and self.estimator is not None:
            raise SettingError("an estimator needs all clients. Leave out estimator, or allow_missing.")
        schema = as_schema(self.schema)
        native_trusted = native_trusted_rows(trusted)
        if engine is None:
            native_proxies = _native(proxies)
            with reporting(progress, "solve") as report:
                defended = _core.defend(
                    native_proxies,
                    native_trusted,
                    schema._native,
                    self._options(),
                    sweep=self.sweep,
                    allow_missing=self.allow_missing,
                    progress=report,
                )
        else:
            defended = self._fit_elsewhere(proxies, native_trusted, schema, progress, engine)
        self.schema_ = schema
        self.outcome_json_, model = defended
        self.model_ = Model._of(model)
        outcome: dict[str, Any] = json.loads(self.outcome_json_)
        self.outcome_ = outcome
        self.weights_: dict[str, float] = {client["id"]: client["weight"] for client in outcome["clients"]}
        self.audit_ = {client["id"]: client["audit"] for client in outcome["clients"]}
        self.verdict_: str = outcome["verdict"]
        self.coef_, self.intercept_ = self.model_.coef_, self.model_.intercept_
        self.classes_ = np.array([0, 1])
        self.warnings_ = [warning["message"] for warning in outcome["warnings"]]
        self._other: OtherModel | None = None
        if self.estimator is not None:
            from ._other_model import OtherModel

            self._other = OtherModel.fit(self.estimator, self, native_proxies, native_trusted)
            self.estimator_ = self._other.estimator
            self.estimator_figures_ = self._other.figures
            self.thresholds_ = dict(zip(schema.groups, self._other.thresholds.tolist(), strict=True))
            self.warnings_ += self._other.warnings
        for message in self.warnings_:
            warnings.warn(message, EquipoiseWarning, stacklevel=2)
        return self

    def _fit_elsewhere(
        self, proxies: Clients, trusted: Any, schema: Schema, progress: Progress, engine: "str | Engine"
    ) -> tuple[str, _core.Model]:
        from .dask import as_engine

        if self.allow_missing:
            raise SettingError("allow_missing is for rows in this process. Leave out allow_missing, or engine.")
        if self.estimator is not None:
            raise SettingError("estimator needs all rows in one process. Leave out estimator, or engine.")
        return as_engine(engine)._defend(
            proxies, trusted, schema, self._options(), sweep=self.sweep, progress=progress
        )

    def decision_function(self, X: Table) -> Floats:
        """The score of each raw row; above 0 it is selected."""
        self._check_is_fitted()
        return self.model_.decision_function(X) if self._other is None else self._other.decision_function(self, X)

    def predict_proba(self, X: Table) -> Floats:
        """The probabilities of the negative and of the positive label of each raw row."""
        self._check_is_fitted()
        return self.model_.predict_proba(X) if self._other is None else self._other.predict_proba(self, X)

    def predict(self, X: Table) -> NDArray[np.int64]:
        """1 for each raw row that is selected, 0 for the others."""
        self._check_is_fitted()
        if self._other is None:
            return self.model_.predict(X)
        return (self.decision_function(X) > 0.0).astype(np.int64)

    def score(self, X: Table, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on raw rows whose label is 1 or 0."""
        predicted, labels = self.predict(X), np.asarray(y)
        if labels.shape == (len(predicted), 1):
            labels = labels[:, 0]
        if labels.shape != predicted.shape:
            raise TableError(f"y must have one label for each of the {len(predicted)} rows, not the shape {labels.shape}.")
        if not np.isin(labels, [0, 1]).all():
            raise TableError("y must have 1 for a positive label and 0 for any other.")
        return float(np.average(predicted == labels, weights=sample_weight))

    def report(self) -> Report:
        """The report of the round, which notebooks show inline."""
        self._check_is_fitted()
        return Report(_core.outcome_page(self.outcome_json_, self.schema_._native))

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write outcome.json, model.json, weights.csv and report.html to a new folder, as the command `defend` does."""
        self._check_is_fitted()
        _core.write_outcome(self.outcome_json_, self.schema_._native, folder, force)

    def to_onnx(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the linear model as an ONNX file, with its figures in the metadata."""
        self._check_is_fitted()
        self.model_._native.write_onnx(path, self.outcome_json_, force)

    def _options(self) -> dict[str, Any]:
        options = (
            "fairness defense require profile root_weighting inner lambda_ iterations learning_rate "
            "inner_tolerance rho_start rho_max no_fallback"
        )
        return {name: getattr(self, name) for name in options.split()}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(self)


def native_trusted_rows(trusted: Trusted) -> Any:
    """A path, the tables of clients, or one table in a tuple."""
    if isinstance(trusted, (str, os.PathLike)):
        return os.fspath(trusted)
    if isinstance(trusted, Mapping):
        return [(str(client), to_native(table)) for client, table in trusted.items()]
    return (to_native(whole(trusted)),)


def _native(clients: Clients) -> Any:
    """The tables of each client, or their folder."""
    if isinstance(clients, (str, os.PathLike)):
        return os.fspath(clients)
    if not isinstance(clients, Mapping):
        raise TypeError(
            f"proxies must map each client to its table, or be a folder, not {type(clients).__name__}"
        )
    if not clients:
        raise SolveError("there are no clients")
    return [(str(client), to_native(table)) for client, table in clients.items()]
