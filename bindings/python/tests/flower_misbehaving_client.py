"""A ClientApp whose nodes behave as their configuration says: the tests' replacement for that of the example."""

import io
import os
import signal
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
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
    if behaviour == "hole":
        record = reply.content["equipoise"]
        rows = pq.read_table(io.BytesIO(record["proxy"]))
        values = rows.column(0).to_numpy().copy()
        values[7] = np.nan
        changed = io.BytesIO()
        pq.write_table(rows.set_column(0, rows.column_names[0], pa.array(values)), changed)
        record["proxy"] = changed.getvalue()
    return reply


@app.evaluate("model")
def model(message: Message, context: Context) -> Message:
    return honest(message, context)
