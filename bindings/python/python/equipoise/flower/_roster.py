"""Who is who: the nodes of a round by the names of their organisations."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ._messages import Refused

if TYPE_CHECKING:
    from flwr.proto.node_pb2 import NodeInfo


class Roster:
    """The clients that may take part, and the nodes that answered.

    A client is an organisation that trusted rows belong to. If the SuperLink knows the name of a node, because its key was
    registered with one, that name counts. Otherwise the node's word counts, unless another node has the same name.
    """

    def __init__(self, clients: Iterable[str]) -> None:
        self.clients = sorted(clients)
        self._registered: dict[int, str] = {}
        self._claimed: dict[int, str] = {}
        self._proxies: dict[int, Path] = {}
        self._reasons: dict[int, str] = {}

    def connected(self, node: "NodeInfo") -> None:
        """A node is online. It may have a name."""
        if node.name:
            self._registered[node.node_id] = node.name

    def check(self, node: int, client: str) -> None:
        """Refuses a node that is not on the roster, or that gives a name other than its own."""
        registered = self._registered.get(node)
        if registered is not None and client != registered:
            raise Refused(f"it says that it is `{client}`, but its key is registered for `{registered}`")
        if registered is None and client in self._registered.values():
            raise Refused(f"it says that it is `{client}`, but another key is registered for that name")
        if client not in self.clients:
            raise Refused(f"there are no trusted rows of `{client}`")

    def claim(self, node: int, client: str | None) -> None:
        """A node says who it is."""
        if client is not None:
            self._claimed[node] = client

    def accept(self, node: int, proxy: Path) -> None:
        """The proxy of a node is valid."""
        self._proxies[node] = proxy

    def refuse(self, node: int, reason: str) -> None:
        """A node does not take part."""
        self._reasons[node] = reason

    def is_complete(self) -> bool:
        """Whether as many nodes answered as there are clients, strangers not counted."""
        names = [self._name(node) for node in (*self._proxies, *self._reasons)]
        return len({*names} & {*self.clients}) + names.count(None) >= len(self.clients)

    def taken_part(self) -> dict[str, tuple[int, Path]]:
        """Node and proxy of each client, in the order of names. Nodes that share a name are refused."""
        by_name: dict[str, list[int]] = {}
        for node in self._proxies:
            by_name.setdefault(self._claimed[node], []).append(node)
        for name, nodes in by_name.items():
            if len(nodes) > 1:
                listed = " and ".join(str(node) for node in sorted(nodes))
                for node in nodes:
                    self._reasons[node] = f"several nodes say that they are `{name}`: {listed}"
        return {
            name: (nodes[0], self._proxies[nodes[0]]) for name, nodes in sorted(by_name.items()) if len(nodes) == 1
        }

    def unregistered(self) -> list[str]:
        """The clients whose names only they themselves vouch for."""
        return [name for name, (node, _) in self.taken_part().items() if node not in self._registered]

    def refused(self, timeout: float) -> dict[str, str]:
        """Who did not take part, and why."""
        present = self.taken_part()
        found: dict[str, str] = {}
        for node, reason in sorted(self._reasons.items()):
            name = self._name(node)
            if name is None:
                label = f"node {node}"
            else:
                label = f"{name} (node {node})" if name in present or name in found else name
            found[label] = reason
        for client in self.clients:
            if client not in present and client not in found:
                found[client] = f"no valid proxy came from it within {timeout:g} s"
        return dict(sorted(found.items()))

    def _name(self, node: int) -> str | None:
        return self._registered.get(node, self._claimed.get(node))
