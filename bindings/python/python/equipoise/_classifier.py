"""A whole round behind the interface of a scikit-learn classifier."""

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from . import _core
from ._errors import EquipoiseWarning
from ._model import Floats
from ._proxy import make_proxy
from ._rows import LabelledRows
from ._server import FairServer
from ._tables import Table, to_columns


class OneShotClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fair linear classifier of rows that belong to several clients.

    `fit` runs a whole round: some rows of each client are the trusted root, each client's other rows become its proxy,
    and a `FairServer` weights the proxies. The model is blind, so `predict` needs no sensitive features. Without
    `sensitive_features` there is no group to be fair to, and the model is a regularised logistic regression of all rows.

    Args:
        fairness: The criterion, as in `FairServer`.
        defense: The defense, as in `FairServer`.
        require: What the model must achieve on the root, as in `FairServer`.
        proxies: False sends each client's rows unchanged, for clients that made proxies of their own.
        root_share: The share of each client's rows that is trusted if `fit` gets no `root`.
        lambda_: Regularisation strength of the model.
        random_state: Decides which rows are the root.

    Attributes:
        classes_ (NDArray): The two labels; the second is positive.
        coef_ (NDArray): The coefficients, for standardised columns.
        intercept_ (NDArray): The intercept.
        server_ (FairServer): The fitted server, with `weights_`, `verdict_` and `report()`, if there are sensitive features.
        schema_ (Schema): The schema of the round.
    """

    if TYPE_CHECKING:
        # scikit-learn makes these methods.
        def set_fit_request(
            self,
            *,
            clients: bool | str | None = ...,
            root: bool | str | None = ...,
            sensitive_features: bool | str | None = ...,
        ) -> "OneShotClassifier": ...

        def set_score_request(self, *, sample_weight: bool | str | None = ...) -> "OneShotClassifier": ...

    def __init__(
        self,
        *,
        fairness: str = "sp",
        defense: str | None = None,
        require: str | None = None,
        proxies: bool = True,
        root_share: float = 0.1,
        lambda_: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.fairness = fairness
        self.defense = defense
        self.require = require
        self.proxies = proxies
        self.root_share = root_share
        self.lambda_ = lambda_
        self.random_state = random_state

    def fit(
        self,
        X: Table,
        y: ArrayLike,
        *,
        sensitive_features: Any = None,
        clients: Any = None,
        root: Any = None,
    ) -> "OneShotClassifier":
        """Run a round.

        Args:
            X: Features, one row each.
            y: Labels with two values; the larger one is positive.
            sensitive_features: The group of each row, in one or several columns.
            clients: The client of each row; by default all rows belong to one.
            root: Booleans that mark the rows that the server trusts; by default a share of each client's rows.
        """
        X, y = self._check_fit(X, y)
        self.classes_, positive = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has only one class, {self.classes_[0]!r}: no model can be fitted")
        if sensitive_features is None:
            if clients is not None or root is not None:
                raise ValueError("clients and root need sensitive_features: a round compares groups")
            return self._fit_alone(X, positive)
        rows = LabelledRows.of(X, y, sensitive_features)
        owners = _text_labels("clients", clients, len(rows))
        trusted = self._trusted_rows(rows, owners, root)
        schema = rows.infer(blind=True)
        server = FairServer(
            schema, fairness=self.fairness, defense=self.defense, require=self.require, lambda_=self.lambda_
        )
        proxies, of_clients = {}, {}
        with warnings.catch_warnings():
            # They are in `server_.warnings_`.
            warnings.simplefilter("ignore", EquipoiseWarning)
            for client in np.unique(owners):
                own = owners == client
                data = rows.mapping(own & ~trusted)
                proxies[client] = (
                    make_proxy(data, schema, fairness=self.fairness, lambda_=self.lambda_)
                    if self.proxies
                    else make_proxy(data, schema, generator="raw")
                )
                of_clients[client] = rows.mapping(own & trusted)
            self.server_ = server.fit(proxies, of_clients)
        self.schema_ = schema
        self.coef_, self.intercept_ = self.server_.coef_, self.server_.intercept_
        return self

    def _fit_alone(self, X: Table, positive: NDArray[np.int64]) -> "OneShotClassifier":
        """Logistic regression of all rows."""
        if not isinstance(X, np.ndarray):
            raise ValueError("text columns need sensitive_features; without them, X must hold numbers")
        self._center, scale = X.mean(axis=0), X.std(axis=0)
        self._scale = np.where(scale > 0.0, scale, 1.0)
        scaled = np.ascontiguousarray((X - self._center) / self._scale)
        labels = positive.astype(np.uint8)
        theta = np.array(_core.fit_logistic(scaled, labels, X.shape[1], self.lambda_))
        self.coef_, self.intercept_ = theta[None, :-1], theta[-1:]
        return self

    def _trusted_rows(self, rows: LabelledRows, owners: NDArray[Any], root: Any) -> NDArray[np.bool_]:
        """The given root rows, or a random share of each client's rows, by group and label."""
        n_rows = len(rows)
        if root is not None:
            given = np.asarray(root)
            if given.shape != (n_rows,) or given.dtype.kind not in "bui":
                raise ValueError(f"root must mark each of the {n_rows} rows as trusted or not, with booleans")
            return given.astype(bool)
        if not 0.0 < self.root_share < 1.0:
            raise ValueError(f"root_share must be above 0 and below 1, found {self.root_share}")
        random = check_random_state(self.random_state)
        trusted = np.zeros(n_rows, dtype=bool)
        groups = np.array([" & ".join(map(str, values)) for values in zip(*(v for _, v in rows.sensitive), strict=True)])
        cells = np.char.add(np.char.add(groups, " / "), rows.positive.astype(str))
        for client in np.unique(owners):
            for cell in np.unique(cells[owners == client]):
                members = np.flatnonzero((owners == client) & (cells == cell))
                n_trusted = max(1, round(self.root_share * len(members)))
                trusted[random.choice(members, size=n_trusted, replace=False)] = True
        return trusted

    def decision_function(self, X: Table) -> Floats:
        """The score of each row; above 0 it is in the second class."""
        check_is_fitted(self)
        X = self._check_rows(X)
        if hasattr(self, "server_"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", EquipoiseWarning)
                return self.server_.decision_function(dict(to_columns(X)))
        scores: Floats = ((X - self._center) / self._scale) @ self.coef_[0] + self.intercept_[0]
        return scores

    def predict_proba(self, X: Table) -> Floats:
        """The probability of each class."""
        score = self.decision_function(X)
        # The argument of exp cannot overflow.
        e = np.exp(-np.abs(score))
        positive = np.where(score > 0.0, 1.0 / (1.0 + e), e / (1.0 + e))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Table) -> NDArray[Any]:
        """The class of each row."""
        selected = self.decision_function(X) > 0.0
        classes: NDArray[Any] = self.classes_[selected.astype(int)]
        return classes

    def _check_fit(self, X: Table, y: Any) -> Any:
        """Validates rows and labels as scikit-learn does."""
        if y is None or not _has_text(X):
            X, y = validate_data(self, X, y, dtype=np.float64)
        else:
            X = self._check_rows(X, reset=True)
            y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        return X, y

    def _check_rows(self, X: Table, *, reset: bool = False) -> Any:
        """Validates rows. Tables with text columns keep their kind, all others become numbers."""
        options = {"skip_check_array": True} if _has_text(X) else {"dtype": np.float64}
        return validate_data(self, X, reset=reset, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")


def _has_text(X: Any) -> bool:
    """Whether a DataFrame has columns that are not numbers."""
    library = type(X).__module__.partition(".")[0]
    if library == "pandas" and hasattr(X, "dtypes"):
        return any(getattr(dtype, "kind", "O") not in "fiub" for dtype in np.atleast_1d(X.dtypes))
    if library == "polars" and hasattr(X, "schema"):
        return any(not (dtype.is_numeric() or str(dtype) == "Boolean") for dtype in X.schema.values())
    return False


def _text_labels(name: str, values: Any, n_rows: int) -> NDArray[Any]:
    if values is None:
        return np.full(n_rows, "all")
    labels = np.asarray(values)
    if labels.shape != (n_rows,):
        raise ValueError(f"{name} must have one entry per row, {n_rows} in all; found the shape {labels.shape}")
    return labels.astype(str)
