"""Requests to nodes, and their replies until a deadline."""

import queue
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid
from httpx import HTTPError

from ._messages import Refused, printable

# A node looks for messages every three seconds. All nodes together cause at most this many requests per second.
_MIN_SECONDS = 0.25
_MAX_REQUESTS_PER_SECOND = 50


class Answer(NamedTuple):
    """The reply of a node, or what went wrong."""

    node: int
    reply: Message | Exception


class Exchange:
    """Requests that are waiting for replies.

    Each request has a thread of its own. Flower announces a reply before all of it has arrived, and then waits for the rest
    for up to two hours: a node that stops halfway must not hold up the others, nor must one whose reply cannot be decoded.
    """

    def __init__(self, grid: Grid, timeout: float) -> None:
        self._grid = grid
        self._deadline = time.monotonic() + timeout
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self.asked: set[int] = set()
        self.pending: set[int] = set()

    @property
    def seconds_left(self) -> float:
        """Until the deadline."""
        return max(self._deadline - time.monotonic(), 0.0)

    def ask(self, node: int, kind: str, content: RecordDict) -> None:
        """Sends a request. It is not delivered after the deadline."""
        message = Message(content, node, kind, ttl=max(self.seconds_left, 0.001), group_id="1")
        self.asked.add(node)
        self.pending.add(node)
        ids = list(self._grid.push_messages([message]))
        if not ids or not ids[0]:
            self._answers.put(Answer(node, Refused("the SuperLink did not accept the request to it")))
            return
        threading.Thread(target=self._wait_for, args=(node, ids[0]), daemon=True).start()

    def answers(self, within: float) -> Iterator[Answer]:
        """The answers that arrive within some seconds, and before the deadline."""
        end = time.monotonic() + min(within, self.seconds_left)
        while True:
            try:
                answer = self._answers.get(timeout=max(end - time.monotonic(), 0.001))
            except queue.Empty:
                return
            self.pending.discard(answer.node)
            if isinstance(answer.reply, HTTPError):
                # The SuperLink cannot be reached, which is not the node's fault.
                raise answer.reply
            yield answer
            if not self.pending:
                return

    def _wait_for(self, node: int, message_id: str) -> None:
        while self.seconds_left > 0:
            try:
                replies = list(self._grid.pull_messages([message_id]))
            except HTTPError as error:
                self._answers.put(Answer(node, error))
                return
            except Exception as error:
                self._answers.put(Answer(node, Refused(f"its reply cannot be decoded: {printable(str(error))}")))
                return
            if replies:
                self._answers.put(Answer(node, _checked(node, replies)))
                return
            time.sleep(max(_MIN_SECONDS, len(self.pending) / _MAX_REQUESTS_PER_SECOND))


def _checked(node: int, replies: list[Message]) -> Message | Exception:
    [reply, *others] = replies
    # Errors that the SuperLink reports have its own id.
    if others or (reply.has_content() and reply.metadata.src_node_id != node):
        return Refused("its reply is not its own")
    return reply
