"""Python imports this file at start-up. It makes Flower wait longer for heartbeats, so that a busy machine does not end a run.

Flower drops a process after two missed heartbeats of 30 s, or never hears one if a call takes more than 5 s. It has no
option for either.
"""

import importlib.util

if importlib.util.find_spec("flwr") is not None:
    import flwr.common.constant

    flwr.common.constant.HEARTBEAT_DEFAULT_INTERVAL = 300
    flwr.common.constant.HEARTBEAT_CALL_TIMEOUT = 60
