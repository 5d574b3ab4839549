"""A node's side: sends a proxy of its rows, once, and evaluates the model on them.

Everything that belongs to one node comes from `flower-supernode --node-config`.
"""

from equipoise.flower import client_app

app = client_app()
