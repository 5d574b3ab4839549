"""What travels between the ServerApp and the nodes. Replies are a stranger's: every value is checked."""

from typing import NamedTuple

from flwr.app import ConfigRecord, Message, MetricRecord, RecordDict

# The types of the two messages, and the name of the only record in each.
PROXY = "query.proxy"
MODEL = "evaluate.model"
RECORD = "equipoise"

_MAX_TEXT = 300

# The SuperLink's own reply for a node that missed two heartbeats, or signed off. Flower does not export the name.
_NODE_UNAVAILABLE = 5


class Refused(Exception):
    """A request or a reply that is refused. The other side may read the reason."""


class ProxyReply(NamedTuple):
    """The proxy of a node, not yet validated."""

    client: str
    schema: str
    content: bytes


class Evaluation(NamedTuple):
    """Figures of the model on a node's own rows. They are the node's word: nobody else can check them."""

    rows: int
    accuracy: float
    # None if a group has no rows to compare.
    gap: float | None


def proxy_request(schema: str, fairness: str) -> RecordDict:
    """Asks for a proxy. A node that agreed on another schema or criterion refuses."""
    return RecordDict({RECORD: ConfigRecord({"schema": schema, "fairness": fairness})})


def model_request(model: str) -> RecordDict:
    """Hands over the model, and asks for its figures on the node's rows."""
    return RecordDict({RECORD: ConfigRecord({"model": model})})


def request_text(message: Message, key: str) -> str:
    """A value of a request."""
    return _text(_config(message), key)


def proxy_reply(reply: ProxyReply) -> RecordDict:
    """A proxy with the name of its client."""
    return RecordDict({RECORD: ConfigRecord({"client": reply.client, "schema": reply.schema, "proxy": reply.content})})


def refusal(reason: str, client: str | None) -> RecordDict:
    """Why a node does not answer, and its name if it has one."""
    return RecordDict({RECORD: ConfigRecord({"refusal": reason, "client": client or ""})})


def evaluation_reply(evaluation: Evaluation) -> RecordDict:
    """The figures of the model."""
    figures: dict[str, int | float] = {"rows": evaluation.rows, "accuracy": evaluation.accuracy}
    if evaluation.gap is not None:
        figures["gap"] = evaluation.gap
    return RecordDict({RECORD: MetricRecord(dict(figures))})


def claimed_client(message: Message) -> str | None:
    """The name that a reply gives, if it gives one, whatever else is wrong with it."""
    try:
        return _text(_config(message), "client") or None
    except Refused:
        return None


def read_proxy(message: Message) -> ProxyReply:
    """The proxy in a reply."""
    record = _config(message)
    if "refusal" in record:
        raise Refused(f"it refused: {_text(record, 'refusal')}")
    content = record.get("proxy")
    if not isinstance(content, bytes):
        raise Refused("its reply has no proxy")
    return ProxyReply(_text(record, "client"), _text(record, "schema"), content)


def read_evaluation(message: Message) -> Evaluation:
    """The figures in a reply."""
    content = _content(message)
    if RECORD in content.config_records:
        raise Refused(f"it refused: {_text(content.config_records[RECORD], 'refusal')}")
    figures = content.metric_records.get(RECORD)
    if figures is None:
        raise Refused("its reply has no figures")
    rows = figures.get("rows")
    if not isinstance(rows, int) or rows < 1:
        raise Refused("its number of rows is not a positive integer")
    gap = _figure(figures, "gap", -1.0) if "gap" in figures else None
    return Evaluation(rows, _figure(figures, "accuracy", 0.0), gap)


def printable(text: str) -> str:
    """A stranger's text, for a log or a page: one line of limited length."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _MAX_TEXT]).split())
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"


def _content(message: Message) -> RecordDict:
    if message.has_error():
        error = message.error
        if error.code == _NODE_UNAVAILABLE:
            raise Refused("its SuperNode stopped, or is not connected any more")
        raise Refused(f"its ClientApp failed (Flower's code {error.code}): {printable(error.reason or 'no reason given')}")
    if not message.has_content():
        raise Refused("its reply is empty")
    return message.content


def _config(message: Message) -> ConfigRecord:
    record = _content(message).config_records.get(RECORD)
    if record is None:
        raise Refused("its reply is not one of equipoise.flower")
    return record


def _text(record: ConfigRecord, key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise Refused(f"`{key}` is missing or not text")
    return value if key == "model" else printable(value)


def _figure(figures: MetricRecord, key: str, low: float) -> float:
    value = figures.get(key)
    # NaN is not in the range either.
    if not isinstance(value, (int, float)) or not low <= value <= 1.0:
        raise Refused(f"its {key} is not between {low:g} and 1")
    return float(value)
