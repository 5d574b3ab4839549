"""A round with Flower: every node sends one proxy, and the ServerApp publishes one model.

On the server, in a `ServerApp`:

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        outcome = OneShot(schema, trusted, fairness="sp", timeout=600).start(grid)
        outcome.save("outcome")

On every node:

    app = client_app()    # name and files come from `flower-supernode --node-config`

Replies are checked by the validator of the round server, in a sandboxed process. A node that crashes, is late or sends
something else than a proxy of the agreed schema does not take part, and the outcome names it. The model is the one that
`equipoise.defend` computes from the same proxies, bit for bit.
"""

from importlib.util import find_spec

if find_spec("flwr") is None:
    raise ImportError('equipoise.flower needs Flower: pip install "equipoise[flower]"')

from ._client import client_app
from ._outcome import Evaluation, Outcome, Seconds
from ._strategy import OneShot

__all__ = ["Evaluation", "OneShot", "Outcome", "Seconds", "client_app"]
