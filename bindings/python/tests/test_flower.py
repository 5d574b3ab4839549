"""Rounds with Flower: the same model as `defend`, whatever some nodes do."""

import os

# Before any import of Flower.
os.environ.update(
    FLWR_TELEMETRY_ENABLED="0", FLWR_DISABLE_UPDATE_CHECK="1", FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION="1"
)

import io
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import equipoise as eq

pytest.importorskip("flwr", reason="Flower is not installed")

import psutil
from flower_shell import Shell, blocks, free_ports
from flwr.app import ConfigRecord, Context, Error, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.common.constant import ErrorCode
from flwr.proto.node_pb2 import NodeInfo
from flwr.supercore.task_identity import TaskIdentity

from equipoise.flower import Evaluation, OneShot, client_app

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "flower"
MISBEHAVING = Path(__file__).with_name("flower_misbehaving_client.py")
# A folder whose `sitecustomize` keeps Flower from giving up on a process that is only slow.
PATIENT = Path(__file__).with_name("flower_patience")

Answer = Callable[[Message], Message | None]


# A deployment: the commands of the example's README, with other ports.


class Deployment:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, *self.node_ports = free_ports(8)
        self.strangers: set[str] = set()
        bin = Path(sys.executable).parent
        environment = {
            "APP": str(EXAMPLE),
            "PATH": f"{bin}:{os.environ['PATH']}",
            # Addresses of Flower's makers that no variable switches off are replaced by a port that nobody listens on.
            "FLWR_SUPERGRID_API_URL": "http://127.0.0.1:9",
            "NO_PROXY": "127.0.0.1",
            "PYTHONPATH": str(PATIENT),
        }
        self.shell = Shell(folder, environment)

    def run(self, commands: str) -> str:
        """Runs commands, and records addresses on other machines that their processes connect to."""
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(done,))
        watcher.start()
        try:
            return self.shell.run(commands.replace("8000", str(self.port)).replace("9094", str(self.node_ports[0])))
        finally:
            done.set()
            watcher.join()

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(2.0):
            for process in self.shell.processes():
                try:
                    remote = {connection.raddr.ip for connection in process.net_connections() if connection.raddr}
                except (psutil.NoSuchProcess, psutil.AccessDenied):
                    continue
                self.strangers |= remote - {"127.0.0.1", "::1"}

    def add_nodes(self, behaviours: Iterable[str]) -> None:
        """Registers and starts nodes that misbehave, all at once. The roster has them: their roots are that of c3."""
        register, start = ["registering="], []
        for name, port in zip(behaviours, self.node_ports[3:], strict=False):
            register.append(
                f"""
                sed -n 's/^c3,/{name},/p' demo/trusted.csv >> trusted.csv
                ssh-keygen -q -t ecdsa -b 384 -N "" -C {name} -f {name}
                flwr supernode register {name}.pub round --name {name} > register-{name}.log 2>&1 & registering="$registering $!"
                """
            )
            start.append(
                f"""
                FLWR_HOME=$PWD/flower/{name} flower-supernode --superlink 127.0.0.1:{self.port} --root-certificates server.crt \
                    --auth-supernode-private-key {name} --host 127.0.0.1 --port {port} --node-config \
                    'client="{name}" data="demo/data/c3.csv" schema="demo/schema.toml" behaviour="{name}"' > {name}.log 2>&1 &
                """
            )
        self.run("\n".join([*register, "for process in $registering; do wait $process; done", *start]))

    def nodes(self, output: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / output / "nodes.json").read_text())
        return found

    def logs(self) -> str:
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    if not all(map(shutil.which, ("bash", "openssl", "ssh-keygen"))):
        pytest.skip("bash, openssl or ssh-keygen is not installed")
    deployment = Deployment(tmp_path_factory.mktemp("deployment"))
    try:
        assert deployment.run("python -c 'import flwr.common.constant as c; print(c.HEARTBEAT_DEFAULT_INTERVAL)'") == "300\n"
        # All but the last two: the round itself, and its comparison with `defend`.
        for block in blocks(EXAMPLE / "README.md")[:-2]:
            deployment.run(block)
        yield deployment
    finally:
        deployment.shell.close()


@pytest.mark.deployment
def test_a_deployment_with_tls_and_node_keys_gives_the_model_of_defend(deployment: Deployment) -> None:
    *_, start, compare = blocks(EXAMPLE / "README.md")
    started = time.perf_counter()
    log = deployment.run(start)
    seconds = time.perf_counter() - started
    print(f"flwr run: {seconds:.1f} s")
    assert "verdict:" in log, log + deployment.logs()
    # It ends with `cmp`, which fails if a bit differs.
    deployment.run(compare)
    nodes = deployment.nodes("outcome")
    assert list(nodes["nodes"]) == ["c1", "c2", "c5"]
    assert nodes["refused"] == {} and nodes["not_evaluated"] == {} and nodes["unregistered"] == []
    model = eq.Model.load(deployment.folder / "outcome" / "model.json")
    for client, figures in nodes["evaluations"].items():
        own = model.evaluate(deployment.folder / "demo" / "data" / f"{client}.csv")
        assert figures == {"rows": own["rows"], "accuracy": own["accuracy"], "gap": own["gap"]}
    assert not deployment.strangers


@pytest.mark.deployment
def test_crashed_late_and_lying_nodes_do_not_sink_a_round(deployment: Deployment, tmp_path: Path) -> None:
    app = tmp_path / "app"
    shutil.copytree(EXAMPLE, app)
    shutil.copy(MISBEHAVING, app / "client_app.py")
    deployment.add_nodes(("crash", "late", "hole", "raise"))
    # Long enough for four more nodes, on a machine that may be busy: a process starts for each of them.
    timeout = max(30.0, round(5 * deployment.nodes("outcome")["seconds"]["collect"]))
    deployment.run("until [ $(flwr supernode list round --format json | grep -c '\"online\"') = 7 ]; do sleep 0.5; done")
    log = deployment.run(
        f"flwr run {app} round --stream --run-config"
        f' \'schema="demo/schema.toml" require="gap=0.3" output="second" timeout={timeout:.1f}\''
    )
    assert "verdict:" in log, log + deployment.logs()
    first, second = (deployment.folder / name / "model.json" for name in ("outcome", "second"))
    assert first.read_bytes() == second.read_bytes()
    nodes = deployment.nodes("second")
    assert list(nodes["nodes"]) == ["c1", "c2", "c5"] and sorted(nodes["evaluations"]) == ["c1", "c2", "c5"]
    refused = nodes["refused"]
    assert sorted(refused) == ["crash", "hole", "late", "raise"]
    # Flower notices a killed process after about a minute.
    assert "ClientApp failed" in refused["crash"] or refused["crash"] == refused["late"]
    assert "its ClientApp failed" in refused["raise"] and "out of order" in refused["raise"]
    assert refused["late"] == f"it did not reply within {timeout:g} s"
    assert "the validator rejects its proxy" in refused["hole"] and "row 8" in refused["hole"]
    # The outcome that everyone gets names them too.
    outcome = json.loads((deployment.folder / "second" / "outcome.json").read_text())
    absent = {warning["client"] for warning in outcome["warnings"] if warning["code"] == "no-submission"}
    assert absent == set(refused)
    assert not deployment.strangers


# Everything else is tested without processes: a grid whose nodes answer at once.


@pytest.fixture(autouse=True)
def identity(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages have the ids of the process that makes them. Flower sets these when it starts an app."""
    for name in ("_run_id", "_task_id", "_node_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


class FakeGrid:
    """Nodes that answer with a function each. None: no answer."""

    def __init__(self, nodes: dict[int, Answer], names: dict[int, str] | None = None) -> None:
        self._answers = nodes
        self._names = names or {}
        self._replies: dict[str, Message | None] = {}
        self.requests: list[Message] = []

    def get_nodes(self) -> list[NodeInfo]:
        return [NodeInfo(node_id=node, name=self._names.get(node, "")) for node in self._answers]

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        ids = []
        for message in messages:
            self.requests.append(message)
            identity = f"message {len(self.requests)}"
            message.metadata.__dict__["_message_id"] = identity
            self._replies[identity] = self._answers[message.metadata.dst_node_id](message)
            ids.append(identity)
        return ids

    def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
        replies = [self._replies[identity] for identity in message_ids]
        return [reply for reply in replies if reply is not None]


def node_of(app: ClientApp, **config: Any) -> Answer:
    """A node that runs an app."""

    def answer(message: Message) -> Message:
        node = message.metadata.dst_node_id
        return app(message, Context(1, node, config, RecordDict(), {}))

    return answer


def changed(answer: Answer, **values: Any) -> Answer:
    """A node that changes values of its reply to the first request."""

    def lie(message: Message) -> Message | None:
        reply = answer(message)
        if reply is not None and message.metadata.message_type == "query.proxy":
            reply.content.config_records["equipoise"].update(values)
        return reply

    return lie


def silent(message: Message) -> None:
    return None


def replying(content: RecordDict | Error) -> Answer:
    return lambda message: Message(content, reply_to=message)


@pytest.fixture(scope="module")
def honest(clients: dict[str, pd.DataFrame], schema: eq.Schema) -> dict[str, Answer]:
    return {name: node_of(client_app(client=name, data=rows, schema=schema)) for name, rows in clients.items()}


@pytest.fixture(scope="module")
def expected(schema: eq.Schema, proxies: dict[str, eq.Proxy], roots: dict[str, pd.DataFrame]) -> eq.FairServer:
    return eq.FairServer(schema, require="gap=0.2").fit(proxies, roots)


def test_the_order_in_which_nodes_connect_does_not_matter(schema, honest, roots, expected, clients) -> None:
    for ids in ([4, 3, 2, 1], [1, 2, 3, 4]):
        grid = FakeGrid(dict(zip(ids, honest.values(), strict=True)))
        outcome = OneShot(schema, roots, require="gap=0.2", timeout=60).start(grid)
        assert outcome.model == expected.model_ and outcome.server.weights_ == expected.weights_
        assert outcome.nodes == dict(zip(honest, ids, strict=True))
        assert outcome.refused == {} and outcome.unregistered == list(honest)
        assert outcome.server.outcome_["warnings"] == expected.outcome_["warnings"]
        figures = expected.model_.evaluate(clients["west"])
        assert outcome.evaluations["west"] == Evaluation(800, figures["accuracy"], figures["gap"])
        # One request for a proxy and one model to each node, and no rows in either.
        assert len(grid.requests) == 8


def parquet(rows: pd.DataFrame) -> bytes:
    content: bytes = rows.to_parquet(index=False)
    return content


def lies(proxy: eq.Proxy, schema: eq.Schema) -> dict[str, tuple[dict[str, Any], str]]:
    """What a node might send, and a part of the reason for which it is refused."""
    rows = proxy.table
    infinite, group, label = rows.copy(), rows.copy(), rows.copy()
    infinite.iloc[3, 0] = float("inf")
    group["group"] = 9
    label["passed"] = 5
    return {
        "garbage": ({"proxy": b"\x00\xff" * 500}, "validator rejects"),
        "nothing": ({"proxy": b""}, "validator rejects"),
        "no rows": ({"proxy": parquet(rows.iloc[:0])}, "validator rejects"),
        "infinite": ({"proxy": parquet(infinite)}, "row 4"),
        "group": ({"proxy": parquet(group)}, "column `group`"),
        "label": ({"proxy": parquet(label)}, "column `passed`"),
        "missing column": ({"proxy": parquet(rows.drop(columns=rows.columns[1]))}, rows.columns[1]),
        "extra column": ({"proxy": parquet(rows.assign(secret=1.0))}, "secret"),
        "text": ({"proxy": parquet(rows.assign(group="A"))}, "column `group`"),
        "not bytes": ({"proxy": "text"}, "no proxy"),
        "other schema": ({"schema": "0" * 64}, "for schema 00000000"),
        "no schema": ({"schema": 5}, "`schema`"),
        "no name": ({"client": 5.0}, "`client`"),
        "stranger": ({"client": "mallory\n"}, "no trusted rows of `mallory`"),
        "refusal": ({"refusal": "not\x1b today\n" + "x" * 999}, "it refused: not today xxx"),
        "too large": ({"proxy": b"\x00" * 300_000}, "more than 200000"),
    }


def test_every_lie_is_refused_with_its_reason(schema, honest, roots, proxies) -> None:
    found = lies(proxies["west"], schema)
    nodes = {i: answer for i, answer in enumerate(honest.values(), 1) if i < 4}
    for i, (values, _) in enumerate(found.values(), 10):
        nodes[i] = changed(honest["west"], **values)
    outcome = OneShot(schema, roots, timeout=120, max_bytes=200_000, evaluate=False).start(FakeGrid(nodes))
    assert list(outcome.nodes) == ["east", "north", "south"]
    without = eq.FairServer(schema, allow_missing=True).fit({k: v for k, v in proxies.items() if k != "west"}, roots)
    assert outcome.model == without.model_
    said = " ".join(outcome.refused.values())
    for lie, (_, reason) in found.items():
        assert reason in said, (lie, outcome.refused)
    assert all(reason.isprintable() and len(reason) < 500 for reason in outcome.refused.values())


def test_replies_that_are_not_ours_are_refused(schema, honest, roots) -> None:
    class Broken(FakeGrid):
        def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
            replies = super().pull_messages(message_ids)
            if replies and replies[0].has_error() and replies[0].error.code == 99:
                raise KeyError("unknown object type")
            return replies

    def foreign(message: Message) -> Message:
        reply = honest["west"](message)
        reply.metadata.__dict__["_src_node_id"] = 1
        return reply

    grid = Broken(
        {
            1: honest["east"],
            2: replying(RecordDict()),
            3: replying(RecordDict({"equipoise": MetricRecord({"rows": 1})})),
            4: replying(Error(2, "ZeroDivisionError")),
            5: replying(Error(99, "")),
            6: foreign,
        }
    )
    outcome = OneShot(schema, roots, timeout=30, evaluate=False).start(grid)
    assert list(outcome.nodes) == ["east"]
    assert outcome.refused["node 2"] == outcome.refused["node 3"] == "its reply is not one of equipoise.flower"
    assert outcome.refused["node 4"] == "its ClientApp failed (Flower's code 2): ZeroDivisionError"
    assert "cannot be decoded" in outcome.refused["node 5"]
    assert outcome.refused["node 6"] == "its reply is not its own"


def test_a_round_goes_on_at_its_deadline(schema, honest, roots) -> None:
    grid = FakeGrid({1: honest["east"], 2: silent, 3: honest["north"]}, names={2: "west"})
    started = time.perf_counter()
    outcome = OneShot(schema, roots, timeout=2, evaluate=False).start(grid)
    assert 2 <= time.perf_counter() - started < 12
    assert outcome.refused == {
        "south": "no valid proxy came from it within 2 s",
        "west": "it did not reply within 2 s",
    }
    assert all(message.metadata.ttl <= 2 for message in grid.requests)
    with pytest.raises(eq.SolveError, match="0 of at least 1 clients sent a valid proxy. east: no valid"):
        OneShot(schema, roots, timeout=1).start(FakeGrid({2: silent}))
    with pytest.raises(eq.SolveError, match="2 of at least 3 clients"):
        OneShot(schema, roots, timeout=2, minimum=3).start(grid)


def test_a_round_does_not_wait_for_a_node_that_is_gone(schema, honest, roots) -> None:
    assert ErrorCode.NODE_UNAVAILABLE == 5
    gone = replying(Error(ErrorCode.NODE_UNAVAILABLE, "no heartbeat"))
    nodes = {1: honest["east"], 2: honest["north"], 3: honest["south"], 4: gone}
    started = time.perf_counter()
    outcome = OneShot(schema, roots, timeout=600, evaluate=False).start(FakeGrid(nodes, names={4: "west"}))
    assert time.perf_counter() - started < 60
    assert outcome.refused == {"west": "its SuperNode stopped, or is not connected any more"}


def test_a_reply_that_never_arrives_in_full_holds_up_nobody(schema, honest, roots) -> None:
    class Stalled(FakeGrid):
        def pull_messages(self, message_ids: Iterable[str]) -> list[Message]:
            replies = super().pull_messages(message_ids)
            if replies and replies[0].has_error():
                time.sleep(60)
            return replies

    grid = Stalled({1: honest["east"], 2: replying(Error(1, "")), 3: honest["north"]}, names={2: "west"})
    started = time.perf_counter()
    outcome = OneShot(schema, roots, timeout=2, evaluate=False).start(grid)
    assert time.perf_counter() - started < 20
    assert list(outcome.nodes) == ["east", "north"] and "did not reply" in outcome.refused["west"]


def test_names_are_those_of_registered_keys_and_must_be_unique(schema, honest, roots) -> None:
    def refused(nodes: dict[int, Answer], names: dict[int, str]) -> dict[str, str]:
        outcome = OneShot(schema, roots, timeout=1.5, evaluate=False).start(FakeGrid(nodes, names))
        assert "west" in outcome.nodes
        return outcome.refused

    west, east = honest["west"], honest["east"]
    # Nobody vouches for either of them.
    reasons = refused({1: east, 2: changed(west, client="east"), 3: west}, {})
    assert reasons["east"] == reasons["east (node 2)"] == "several nodes say that they are `east`: 1 and 2"
    # A key with another name, and a key without one.
    assert "registered for `north`" in refused({1: east, 2: west}, {1: "north"})["north"]
    reasons = refused({1: changed(honest["south"], client="east"), 2: east, 3: west}, {2: "east"})
    assert "another key is registered" in reasons["east (node 1)"]


def test_figures_of_nodes_are_checked(schema, honest, roots) -> None:
    def evaluating(figures: RecordDict | None) -> Answer:
        def answer(message: Message) -> Message | None:
            if message.metadata.message_type == "query.proxy":
                return honest["west"](message)
            return None if figures is None else Message(figures, reply_to=message)

        return answer

    for figures, reason in [
        ({"rows": 5, "accuracy": 1.5}, "accuracy is not between 0 and 1"),
        ({"rows": 5, "accuracy": float("nan")}, "accuracy is not between 0 and 1"),
        ({"rows": 5, "accuracy": 0.5, "gap": -2.0}, "gap is not between -1 and 1"),
        ({"rows": 0, "accuracy": 0.5}, "not a positive integer"),
        ({"rows": [1], "accuracy": 0.5}, "not a positive integer"),
    ]:
        node = evaluating(RecordDict({"equipoise": MetricRecord(figures)}))
        outcome = OneShot(schema, {"west": roots["west"]}, timeout=20).start(FakeGrid({1: node}))
        assert outcome.evaluations == {} and reason in outcome.not_evaluated["west"]
    outcome = OneShot(schema, {"west": roots["west"]}, timeout=2).start(FakeGrid({1: evaluating(None)}))
    assert outcome.not_evaluated == {"west": "it did not reply within 2 s"}
    no_gap = evaluating(RecordDict({"equipoise": MetricRecord({"rows": 5, "accuracy": 1})}))
    outcome = OneShot(schema, {"west": roots["west"]}, timeout=20).start(FakeGrid({1: no_gap}))
    assert outcome.evaluations == {"west": Evaluation(5, 1.0, None)}


def test_an_outcome_is_saved_with_its_nodes(schema, honest, roots, tmp_path) -> None:
    outcome = OneShot(schema, roots, timeout=2).start(FakeGrid({1: honest["east"], 2: honest["west"]}))
    outcome.save(tmp_path / "outcome")
    outcome.save(tmp_path / "outcome", force=True)
    saved = json.loads((tmp_path / "outcome" / "nodes.json").read_text())
    assert saved == json.loads(json.dumps(outcome.to_dict()))
    assert sorted(saved["refused"]) == ["north", "south"]
    page = (tmp_path / "outcome" / "report.html").read_text()
    assert "north" in page and "is on the roster but did not submit" in page
    assert eq.Model.load(tmp_path / "outcome" / "model.json") == outcome.model


def test_settings_and_roots_are_checked_before_nodes_are_asked(schema, roots, tmp_path) -> None:
    with pytest.raises(eq.SettingError, match="defense"):
        OneShot(schema, roots, defense="magic")
    with pytest.raises(eq.SettingError, match="timeout"):
        OneShot(schema, roots, timeout=0)
    with pytest.raises(eq.SettingError, match="minimum"):
        OneShot(schema, roots, minimum=5)
    with pytest.raises(eq.TableError, match="score"):
        OneShot(schema, {**roots, "west": roots["west"].drop(columns="score")})
    with pytest.raises(TypeError, match="a table must be"):
        OneShot(schema, [roots])
    with pytest.raises(eq.SettingError, match="column `client`"):
        OneShot(schema, roots["west"])
    for client, root in roots.items():
        root.to_csv(tmp_path / f"{client}.csv", index=False)
    assert OneShot(schema, tmp_path).clients == sorted(roots)


# A node.


def ask(answer: Answer, schema: str, fairness: str = "sp") -> ConfigRecord:
    content = RecordDict({"equipoise": ConfigRecord({"schema": schema, "fairness": fairness})})
    reply = answer(Message(content, 7, "query.proxy"))
    assert reply is not None
    return reply.content.config_records["equipoise"]


def test_a_node_sends_the_same_file_every_time(schema, clients, proxies, tmp_path) -> None:
    schema.save(tmp_path / "schema.toml")
    clients["east"].to_csv(tmp_path / "east.csv", index=False)
    config = {"client": "east", "schema": str(tmp_path / "schema.toml"), "data": str(tmp_path / "east.csv")}
    node = node_of(client_app(), **config, proxy=str(tmp_path / "east.parquet"))
    first = ask(node, schema.digest)
    assert first["proxy"] == (tmp_path / "east.parquet").read_bytes()
    pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(first["proxy"])), proxies["east"].table)
    # The table is gone, and the proxy stays.
    (tmp_path / "east.csv").unlink()
    assert ask(node, schema.digest) == first
    # Without a file, the proxy is made again, with the same bytes.
    again = node_of(client_app(client="east", data=lambda context: clients["east"], schema=schema))
    assert ask(again, schema.digest)["proxy"] == ask(again, schema.digest)["proxy"]


def test_a_node_refuses_what_was_not_agreed_on(schema, clients, proxies, tmp_path) -> None:
    own = {"client": "east", "data": clients["east"], "schema": schema}
    assert "request is for schema 00000000" in ask(node_of(client_app(**own)), "0" * 64)["refusal"]
    agreed = node_of(client_app(**own, fairness="sp"))
    assert "fairness `eo`, this node agreed on `sp`" in ask(agreed, schema.digest, "eo")["refusal"]
    assert "no `client`" in ask(node_of(client_app(data=clients["east"], schema=schema)), schema.digest)["refusal"]
    assert "no `data`" in ask(node_of(client_app(client="east", schema=schema)), schema.digest)["refusal"]
    # A file that is not the proxy of this client, by what it says itself.
    proxies["east"].save(tmp_path / "east.parquet")
    sent = node_of(client_app(**own, proxy=tmp_path / "east.parquet"))
    assert "made for" in ask(sent, schema.digest, "eo")["refusal"]
    other = node_of(client_app(**{**own, "client": "west"}, proxy=tmp_path / "east.parquet"))
    assert "client `east`" in ask(other, schema.digest)["refusal"]
    clients["east"].to_parquet(tmp_path / "rows.parquet")
    for file in ("rows.parquet", "rows.csv"):
        reply = ask(node_of(client_app(**own, proxy=tmp_path / file)), schema.digest)
        assert "proxy" not in reply and "refusal" in reply


def test_a_node_never_sends_the_text_of_an_error(schema, clients, caplog) -> None:
    secret = clients["east"].astype({"score": object})
    secret.loc[3, "score"] = "Jane Doe"
    reply = ask(node_of(client_app(client="east", data=secret, schema=schema)), schema.digest)
    assert reply["refusal"] == "TableError; the log of the node has the details" and reply["client"] == "east"
    assert "Jane Doe" in caplog.text


def test_a_node_keeps_the_model_and_evaluates_on_its_test_rows(schema, clients, expected, tmp_path) -> None:
    app = client_app(
        client="east", data=clients["east"], test=clients["east"][:100], schema=schema, model=tmp_path / "model.json"
    )
    request = RecordDict({"equipoise": ConfigRecord({"model": expected.model_.to_json()})})
    reply = node_of(app)(Message(request, 7, "evaluate.model"))
    assert reply is not None and dict(reply.content.metric_records["equipoise"])["rows"] == 100
    assert eq.Model.load(tmp_path / "model.json") == expected.model_
    other = eq.Schema.infer(clients["east"], label="passed", sensitive="group", blind=True)
    reply = node_of(client_app(client="east", data=clients["east"], schema=other))(Message(request, 7, "evaluate.model"))
    assert reply is not None and "not for the schema" in reply.content.config_records["equipoise"]["refusal"]


def test_a_private_proxy_is_made_once_and_figures_stay_at_home(schema, clients, expected, tmp_path) -> None:
    own = {"client": "east", "data": clients["east"], "schema": schema}
    assert "no `proxy`" in ask(node_of(client_app(**own, dp_epsilon=3)), schema.digest)["refusal"]
    private = node_of(client_app(**own, dp_epsilon=3, proxy=tmp_path / "east.parquet"))
    first = ask(private, schema.digest)
    assert "proxy" in first and ask(private, schema.digest) == first
    request = RecordDict({"equipoise": ConfigRecord({"model": expected.model_.to_json()})})
    for node in (private, node_of(client_app(**own), evaluate=False)):
        reply = node(Message(request, 7, "evaluate.model"))
        assert reply is not None
        assert reply.content.config_records["equipoise"]["refusal"] == "this node reports no figures"


def test_the_base_package_does_not_need_flower() -> None:
    program = """
import sys
sys.modules["flwr"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "flwr" else find(name, *rest)
import equipoise as eq
eq.FairServer, eq.make_proxy
try:
    import equipoise.flower
except ImportError as error:
    assert 'pip install "equipoise[flower]"' in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", program], check=True)
