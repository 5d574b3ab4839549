"""FairServer: verdicts, reports, progress, other models."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import equipoise as eq


@pytest.fixture(scope="module")
def server(schema, proxies, roots) -> eq.FairServer:
    return eq.FairServer(schema, require="gap=0.9,accuracy=0.99").fit(proxies, roots)


def test_results_are_readable(server, everyone) -> None:
    assert abs(sum(server.weights_.values()) - 1) < 1e-9
    assert server.verdict_ == "fail"
    assert set(server.audit_) == set(server.weights_)
    assert server.outcome_["settings"]["requirements"] == "gap=0.9,accuracy=0.99"
    report = server.report()
    assert report._repr_html_().startswith("<iframe srcdoc=") and "</html>" in report.html
    probabilities = server.predict_proba(everyone)
    assert probabilities.shape == (len(everyone), 2)
    np.testing.assert_array_equal(server.predict(everyone), probabilities[:, 1] > 0.5)
    again = pickle.loads(pickle.dumps(server))
    np.testing.assert_array_equal(again.predict(everyone), server.predict(everyone))
    assert clone(server).require == server.require


def test_parameters_are_those_of_an_estimator(server, schema, everyone) -> None:
    other = eq.FairServer(schema, fairness="eo", estimator=LogisticRegression(C=3.0))
    assert other.get_params()["estimator__C"] == 3.0 and "estimator__C" not in other.get_params(deep=False)
    assert other.set_params(fairness="sp", estimator__C=2.0) is other
    assert (other.fairness, other.estimator.C) == ("sp", 2.0)
    with pytest.raises(ValueError, match="no parameter 'defence'"):
        other.set_params(defence="tilt")
    copy = clone(other)
    assert copy.estimator is not other.estimator and copy.estimator.C == 2.0
    assert repr(eq.FairServer("schema.toml", lambda_=0.1)) == "FairServer(schema='schema.toml', lambda_=0.1)"
    assert is_classifier(server)
    check_is_fitted(server)
    with pytest.raises(NotFittedError):
        other.predict(everyone)
    accuracy = float(np.mean(server.predict(everyone) == everyone["passed"]))
    assert server.score(everyone, everyone["passed"]) == server.score(everyone, everyone[["passed"]]) == accuracy
    with pytest.raises(eq.TableError, match="1 for a positive label"):
        server.score(everyone, everyone["passed"].map({0: "no", 1: "yes"}))
    with pytest.raises(eq.TableError, match="one label for each"):
        server.score(everyone, [1])
    ones = everyone["passed"] == 1
    assert server.score(everyone, everyone["passed"], sample_weight=ones) == np.mean(server.predict(everyone[ones]) == 1)


def test_reports_are_saved_once(server, tmp_path) -> None:
    server.report().save(tmp_path / "report.html")
    with pytest.raises(eq.FileError, match="already exists"):
        server.report().save(tmp_path / "report.html")
    server.save(tmp_path / "outcome")
    assert (tmp_path / "outcome/report.html").read_text() == server.report().html


def test_warnings_are_raised_and_progress_is_reported(schema, proxies, roots) -> None:
    steps: list[tuple[int, int]] = []
    with pytest.warns(eq.EquipoiseWarning):
        server = eq.FairServer(schema).fit(proxies, {name: root[:8] for name, root in roots.items()})
    assert server.warnings_
    eq.FairServer(schema, profile="paper").fit(proxies, roots, progress=lambda done, of: steps.append((done, of)))
    assert steps[-1] == (2000, 2000)
    eq.FairServer(schema).fit(proxies, roots, progress=True)

    def fail(done: int, of: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        eq.FairServer(schema).fit(proxies, roots, progress=fail)


def test_other_models_are_trained_with_the_weights_and_measured(schema, proxies, roots, everyone, tmp_path) -> None:
    server = eq.FairServer(schema, estimator=HistGradientBoostingClassifier(max_iter=10, random_state=0))
    server.fit(proxies, roots)
    linear = eq.FairServer(schema).fit(proxies, roots)
    assert server.weights_ == linear.weights_ and server.model_ == linear.model_
    figures = server.estimator_figures_
    assert figures["linear"]["accuracy"].value == linear.outcome_["root_metrics"]["accuracy"]["value"]
    measured = abs(linear.outcome_["root_metrics"]["gaps"]["sp"]["value"])
    assert abs(figures["linear"]["gap"].value - measured) < 1e-12
    assert (server.predict(everyone) != linear.predict(everyone)).any()
    np.testing.assert_array_equal(server.predict(everyone), server.decision_function(everyone) > 0)
    assert set(server.thresholds_) == set(schema.groups)
    folders = {}
    for name, tables in [("proxies", proxies), ("roots", roots)]:
        (tmp_path / name).mkdir()
        for client, table in tables.items():
            file = tmp_path / name / f"{client}.csv"
            table.save(file) if name == "proxies" else table.to_csv(file, index=False)
        folders[name] = tmp_path / name
    from_files = clone(server).fit(folders["proxies"], folders["roots"])
    np.testing.assert_array_equal(from_files.predict(everyone), server.predict(everyone))


def test_thresholds_equalise_the_weighted_rates_on_the_proxies(schema, proxies, roots) -> None:
    server = eq.FairServer(schema, estimator=LogisticRegression()).fit(proxies, roots)
    rates = {}
    for code, group in enumerate(schema.groups):
        selected = total = 0.0
        for client, proxy in proxies.items():
            rows = proxy.table[proxy.table["group"] == code]
            features = np.column_stack([rows.iloc[:, :-2], np.full(len(rows), code)])
            probability = server.estimator_.predict_proba(features)[:, 1]
            weight = server.weights_[client] / len(proxy)
            selected += weight * (probability > server.thresholds_[group]).sum()
            total += weight * len(rows)
        rates[group] = selected / total
    assert max(rates.values()) - min(rates.values()) < 0.005
    assert len(set(server.thresholds_.values())) == 2


def test_a_less_fair_model_gives_a_warning(schema, proxies, roots) -> None:
    stump = DecisionTreeClassifier(max_depth=None, random_state=0)
    unfair = {name: root.assign(passed=(root["group"] == "A").astype(int)) for name, root in roots.items()}
    server = eq.FairServer(schema, estimator=stump)
    with pytest.warns(eq.EquipoiseWarning):
        server.fit(proxies, unfair)
    figures = server.estimator_figures_
    said = any("less fair on the root" in text for text in server.warnings_)
    assert said == (figures["estimator"]["gap"].value > figures["linear"]["gap"].value)


def test_clients_without_a_proxy_can_be_left_out(schema, proxies, roots) -> None:
    present = {name: proxy for name, proxy in proxies.items() if name != "north"}
    with pytest.raises(eq.TableError, match="without a proxy: `north`"):
        eq.FairServer(schema).fit(present, roots)
    server = eq.FairServer(schema, allow_missing=True).fit(present, roots)
    without = eq.FairServer(schema).fit(present, {name: root for name, root in roots.items() if name != "north"})
    assert server.model_ == without.model_
    assert any("client `north` is on the roster but did not submit" in text for text in server.warnings_)
    with pytest.raises(eq.SettingError, match="allow_missing"):
        eq.FairServer(schema, allow_missing=True, estimator=LogisticRegression()).fit(present, roots)
