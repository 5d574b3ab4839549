"""Proxies with the interface of imbalanced-learn's samplers."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from ._proxy import make_proxy
from ._rows import LabelledRows
from ._tables import Table, column, from_columns, kind_of


class FairProxy(BaseEstimator):  # type: ignore[misc]
    """Resample rows into a fair proxy, with the interface of imbalanced-learn's samplers.

    `fit_resample` returns encoded features of the same kind as `X`, and labels. Afterwards, `sensitive_features_` has the
    group of each row, `schema_` the schema, `proxy_` the table to send and `summary_` its quality.
    """

    def __init__(
        self,
        *,
        fairness: str = "sp",
        generator: str | None = None,
        rows: int | None = None,
        rate: float | str | None = None,
        epsilon: float | None = None,
        seed: int | None = None,
        lambda_: float | None = None,
        blind: bool = False,
    ) -> None:
        self.fairness = fairness
        self.generator = generator
        self.rows = rows
        self.rate = rate
        self.epsilon = epsilon
        self.seed = seed
        self.lambda_ = lambda_
        self.blind = blind

    def fit_resample(self, X: Table, y: Any, *, sensitive_features: Any) -> tuple[Any, Any]:
        """Make a proxy of the rows and return its features and labels."""
        check_classification_targets(y)
        if type_of_target(y) != "binary":
            raise ValueError(f"Only binary classification is supported. The type of the target is {type_of_target(y)}.")
        rows = LabelledRows.of(X, y, sensitive_features)
        schema = rows.infer(blind=self.blind)
        proxy = make_proxy(
            rows.mapping(),
            schema,
            fairness=self.fairness,
            generator=self.generator,
            rows=self.rows,
            rate=self.rate,
            epsilon=self.epsilon,
            seed=self.seed,
            lambda_=self.lambda_,
        )
        self.schema_ = schema
        self.proxy_ = proxy
        self.summary_ = proxy.summary
        self.classes_ = rows.classes
        groups = np.array(schema.groups, dtype=object)
        native = schema._native
        self.sensitive_features_ = groups[column(proxy._output, native.group_column())]
        positive = column(proxy._output, schema.label) > 0
        kind = kind_of(X)
        features = {name: column(proxy._output, name) for name in native.encoded_names()}
        return from_columns(features, kind), rows.classes[positive.astype(int)]
