"""The node's side: a ClientApp that makes the proxy of its own rows, and evaluates the model on them."""

import logging
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flwr.app import Context, Message, RecordDict
from flwr.clientapp import ClientApp

from .. import _core
from .._errors import FileError
from .._model import Model
from .._proxy import make_proxy
from .._schema import Schema, as_schema
from .._tables import Table
from ._messages import Evaluation, ProxyReply, Refused, evaluation_reply, proxy_reply, refusal, request_text

StrPath = str | os.PathLike[str]
Rows = Table | Callable[[Context], Table]

_log = logging.getLogger("flwr")


def client_app(
    *,
    client: str | None = None,
    data: Rows | None = None,
    schema: Schema | StrPath | None = None,
    fairness: str | None = None,
    proxy: StrPath | None = None,
    test: Rows | None = None,
    model: StrPath | None = None,
    evaluate: bool | None = None,
    **options: Any,
) -> ClientApp:
    """A `ClientApp` that sends a proxy of the node's rows, once, and evaluates the model on them.

    What is None comes from the node: `flower-supernode --node-config 'client="north" data="north.csv" schema="schema.toml"'`.
    Rows never leave the node. A request that names another schema or criterion than the node agreed on is refused. If
    something goes wrong, the reply says only what kind of error it was: messages may quote cells, so they stay in the log.

    Args:
        client: The name of the organisation, as on the coordinator's roster.
        data: The raw rows, their path, or a function that gets Flower's `Context` and returns one of these.
        schema: The schema that all parties agreed on, or the path of its file.
        fairness: The criterion that was agreed on. By default, that of the request.
        proxy: Where to keep the proxy, as a .parquet file. If the file exists, it is what is sent: every request gets the same
            bytes, and the organisation can make the file itself and look at it first. Without it, the proxy is made again for
            each request, from the same rows and with the same seed.
        test: Rows to evaluate the model on, in place of `data`.
        model: Where to save the model that the node receives. An existing file is replaced.
        evaluate: Whether to report rows, accuracy and gap of the model, which are exact figures of the node's own rows. By
            default yes, but not with `dp_epsilon`, whose guarantee does not cover them.
        options: Other parameters of `make_proxy`, such as `seed`. `dp_epsilon` needs `proxy`, because a second private proxy
            of the same rows would spend the same budget again.
    """
    given: dict[str, Any] = {
        "client": client,
        "data": data,
        "schema": schema,
        "fairness": fairness,
        "proxy": proxy,
        "test": test,
        "model": model,
        "evaluate": evaluate,
    }
    app = ClientApp()

    @app.query("proxy")
    def send_proxy(message: Message, context: Context) -> Message:
        return _answer(message, _Node(given, context), lambda node: _proxy(message, node, options))

    @app.evaluate("model")
    def evaluate_model(message: Message, context: Context) -> Message:
        return _answer(message, _Node(given, context), lambda node: _evaluation(message, node, options))

    return app


class _Node:
    """The settings of a node: those of the app, otherwise those of its own configuration."""

    def __init__(self, given: dict[str, Any], context: Context) -> None:
        self._given = given
        self._context = context

    def get(self, key: str) -> Any:
        value = self._given[key]
        return self._context.node_config.get(key) if value is None else value

    def need(self, key: str) -> Any:
        value = self.get(key)
        if value is None:
            raise Refused(f"this node has no `{key}`: start it with --node-config '{key}=\"…\"'")
        return value

    def rows(self, *keys: str) -> Table:
        found = next((value for value in map(self.get, keys) if value is not None), None)
        found = self.need(keys[-1]) if found is None else found
        return found(self._context) if callable(found) else found

    def schema(self) -> Schema:
        return as_schema(self.need("schema"))


def _answer(message: Message, node: _Node, answer: Callable[[_Node], RecordDict]) -> Message:
    try:
        content = answer(node)
    except Refused as refused:
        _log.warning("equipoise: this node refuses the request: %s", refused)
        content = refusal(str(refused), node.get("client"))
    except Exception as error:
        # Flower would send the text of the exception to the server.
        _log.exception("equipoise: this node cannot answer the request")
        content = refusal(f"{type(error).__name__}; the log of the node has the details", node.get("client"))
    return Message(content, reply_to=message)


def _proxy(message: Message, node: _Node, options: dict[str, Any]) -> RecordDict:
    client, schema = str(node.need("client")), node.schema()
    asked = request_text(message, "schema")
    if asked != schema.digest:
        raise Refused(f"the request is for schema {asked[:8]}, this node agreed on {schema.digest[:8]}")
    fairness, agreed = request_text(message, "fairness"), node.get("fairness")
    if agreed is not None and agreed != fairness:
        raise Refused(f"the request is for fairness `{fairness}`, this node agreed on `{agreed}`")
    if options.get("dp_epsilon") is not None:
        node.need("proxy")
    with tempfile.TemporaryDirectory(prefix="equipoise-flower-") as folder:
        # A proxy file says whose it is by its name.
        file = Path(node.get("proxy") or Path(folder, f"{client}.parquet"))
        if file.suffix != ".parquet":
            raise Refused("the proxy of this node is not a .parquet file")
        if not file.exists():
            made = make_proxy(node.rows("data"), schema, fairness=fairness, **options)
            try:
                made.save(file)
            except FileError:
                # Another request may have been faster.
                if not file.exists():
                    raise
        if reason := _core.reason_not_to_send(file, client, schema._native, fairness):
            raise Refused(reason)
        content = file.read_bytes()
    return proxy_reply(ProxyReply(client, schema.digest, content))


def _evaluation(message: Message, node: _Node, options: dict[str, Any]) -> RecordDict:
    model = Model(request_text(message, "model"))
    if model.schema != node.schema():
        raise Refused("the model is not for the schema that this node agreed on")
    if (path := node.get("model")) is not None:
        model.save(path, force=True)
    reports = node.get("evaluate")
    if reports is False or (reports is None and options.get("dp_epsilon") is not None):
        raise Refused("this node reports no figures")
    figures = model.evaluate(node.rows("test", "data"))
    return evaluation_reply(Evaluation(int(figures["rows"]), float(figures["accuracy"]), figures["gap"]))
