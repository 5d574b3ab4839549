"""The coordinator's side: collects the proxies, publishes the model, says who did not take part."""

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from equipoise.flower import OneShot

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    config = context.run_config
    strategy = OneShot(
        str(config["schema"]),
        str(config["trusted"]),
        fairness=str(config["fairness"]),
        require=str(config["require"]) or None,
        timeout=float(config["timeout"]),
        minimum=int(config["minimum"]),
    )
    outcome = strategy.start(grid)
    outcome.save(str(config["output"]))
    print("verdict:", outcome.server.verdict_)
    for client, weight in outcome.server.weights_.items():
        print(f"{client}: weight {weight:.3f}, on its own rows {outcome.evaluations.get(client)}")
    for name, reason in outcome.refused.items():
        print(f"{name} did not take part: {reason}")
