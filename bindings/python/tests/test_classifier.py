"""OneShotClassifier is a scikit-learn estimator."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import equipoise as eq
from equipoise.metrics import GapFrame


@pytest.fixture
def rows(clients) -> dict[str, object]:
    table = pd.concat(clients.values(), ignore_index=True)
    owners = np.repeat(list(clients), [len(rows) for rows in clients.values()])
    return {
        "X": table[["score", "age"]].to_numpy(dtype=float),
        "y": np.where(table["passed"] == 1, "yes", "no"),
        "sensitive_features": table["group"].to_numpy(),
        "clients": owners,
        "table": table[["score", "age", "tier"]],
    }


def test_scikit_learn_finds_nothing_wrong() -> None:
    results = check_estimator(eq.OneShotClassifier(), on_fail=None)
    failed = [r["check_name"] for r in results if r["status"] in ("failed", "xfail")]
    assert not failed
    assert len(results) > 40


def test_a_round_is_fairer_than_a_regression(rows) -> None:
    metadata = {key: rows[key] for key in ("sensitive_features", "clients")}
    fair = eq.OneShotClassifier(random_state=0, require="gap=0.3").fit(rows["X"], rows["y"], **metadata)
    alone = eq.OneShotClassifier().fit(rows["X"], rows["y"])
    gaps = [
        GapFrame(rows["y"], model.predict(rows["X"]), sensitive_features=rows["sensitive_features"], pos_label="yes")
        for model in (fair, alone)
    ]
    differences = [frame.difference()["selection_rate"].value for frame in gaps]
    assert differences[0] < 0.05 < 0.2 < differences[1]
    # A model that sees neither group nor tier can be fair only if it hardly uses the score.
    assert fair.score(rows["X"], rows["y"]) > 0.53
    assert sorted(fair.server_.weights_) == sorted(set(rows["clients"]))
    assert fair.server_.verdict_ == "pass"
    np.testing.assert_allclose(fair.predict_proba(rows["X"]).sum(axis=1), 1)
    assert set(fair.predict(rows["X"])) == {"yes", "no"}


def test_tables_with_text_the_root_and_raw_rows(rows) -> None:
    metadata = {key: rows[key] for key in ("sensitive_features", "clients")}
    root = np.arange(len(rows["y"])) % 10 == 0
    model = eq.OneShotClassifier(proxies=False).fit(rows["table"], rows["y"], root=root, **metadata)
    assert list(model.feature_names_in_) == ["score", "age", "tier"]
    assert model.coef_.shape == (1, 5)
    roots = [client["root_rows"] for client in model.server_.outcome_["clients"]]
    assert sum(roots) == root.sum()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(rows["table"]), model.decision_function(rows["table"]))
    assert again.server_.report().html == model.server_.report().html
    with pytest.raises(ValueError, match="root must mark each"):
        clone(model).fit(rows["table"], rows["y"], root=[True], **metadata)
    with pytest.raises(ValueError, match="need sensitive_features"):
        clone(model).fit(rows["table"], rows["y"], clients=rows["clients"])


def test_metadata_is_routed_through_pipelines_and_searches(rows) -> None:
    names = ("sensitive_features", "clients", "root")
    metadata = {key: rows[key] for key in names[:2]}
    metadata["root"] = np.arange(len(rows["y"])) % 8 == 0
    with sklearn.config_context(enable_metadata_routing=True):
        model = eq.OneShotClassifier().set_fit_request(**dict.fromkeys(names, True))
        pipeline = make_pipeline(StandardScaler(), model)
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        scores = cross_validate(pipeline, rows["X"], rows["y"], params=metadata, cv=folds, error_score="raise")
        assert scores["test_score"].min() > 0.5
        grid = {"oneshotclassifier__lambda_": [1e-4, 1.0], "oneshotclassifier__fairness": ["sp", "eo"]}
        search = GridSearchCV(pipeline, grid, cv=folds, error_score="raise").fit(rows["X"], rows["y"], **metadata)
        assert search.best_score_ > 0.5
    assert clone(model).get_params() == model.get_params()


def test_fair_proxies_resample(rows) -> None:
    sampler = eq.FairProxy(rows=500, blind=True)
    X, y = sampler.fit_resample(rows["table"], rows["y"], sensitive_features=rows["sensitive_features"])
    assert isinstance(X, pd.DataFrame) and X.shape == (500, 5) and list(X)[-1] == "tier=top"
    assert set(y) == {"yes", "no"} and len(sampler.sensitive_features_) == 500
    assert sampler.summary_["rows"] == 500
    assert isinstance(
        sampler.fit_resample(rows["X"], rows["y"], sensitive_features=rows["sensitive_features"])[0], np.ndarray
    )
    with pytest.raises(ValueError, match="Only binary"):
        sampler.fit_resample(rows["X"], np.arange(len(rows["y"])) % 3, sensitive_features=rows["sensitive_features"])
