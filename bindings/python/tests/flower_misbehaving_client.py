"""A ClientApp whose nodes behave as their configuration says: the tests' replacement for that of the example."""

import io
import os
import signal
import time

import pandas as pd
from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from equipoise.flower import client_app

honest = client_app()
app = ClientApp()


@app.query("proxy")
def proxy(message: Message, context: Context) -> Message:
    behaviour = context.node_config.get("behaviour")
    if behaviour == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if behaviour == "raise":
        raise RuntimeError("out of order")
    if behaviour == "late":
        time.sleep(300)
    reply = honest(message, context)
    if behaviour == "nan":
        record = reply.content["equipoise"]
        rows = pd.read_parquet(io.BytesIO(record["proxy"]))
        rows.iloc[7, 0] = float("nan")
        record["proxy"] = rows.to_parquet(index=False)
    return reply


@app.evaluate("model")
def model(message: Message, context: Context) -> Message:
    return honest(message, context)
