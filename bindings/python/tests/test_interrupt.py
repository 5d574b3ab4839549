"""Ctrl-C ends long calls within half a second and leaves nothing behind."""

import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

SETUP = """
import sys
import numpy as np
import equipoise as eq

random = np.random.default_rng(1)
n = 400_000
columns = {f"f{i}": random.normal(size=n) for i in range(20)}
columns["group"] = random.integers(0, 2, n).astype(float)
columns["passed"] = (columns["f0"] + columns["group"] + random.normal(size=n) > 0.5).astype(float)
schema = eq.Schema.infer(columns, label="passed", sensitive="group")
"""
WORK = {
    "proxy": "eq.make_proxy(columns, schema, fairness='sp', generator='paper')",
    "solve": """
proxy = schema._native.encode_trusted(([(k, v) for k, v in columns.items()],))[1]
names = schema._native.encoded_names()
x = np.frombuffer(proxy[0]).reshape(n, len(names))
proxies = {}
for c in range(8):
    part = {name: x[c::8, i].copy() for i, name in enumerate(names)}
    part["group"] = columns["group"][c::8].copy()
    part["passed"] = np.where(columns["passed"][c::8] > 0, 1.0, -1.0)
    proxies[f"c{c}"] = part
roots = {f"c{c}": {k: v[c : c + 30] for k, v in columns.items()} for c in range(8)}
# So small a rate needs all the steps.
server = eq.FairServer(schema, profile="paper", iterations=50_000, learning_rate=1e-5)
print("working", flush=True)
server.fit(proxies, roots)
""",
}


@pytest.mark.timed
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_raises_keyboard_interrupt_within_half_a_second(work: str, tmp_path: Path) -> None:
    start = "" if work == "solve" else 'print("working", flush=True)\n'
    body = textwrap.indent(start + WORK[work], "    ")
    program = f"""{SETUP}
import time
try:
{body}
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
    sys.exit(3)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n", process.stderr.read()
    time.sleep(1.0)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    word, at = process.stdout.readline().split()
    assert word == "interrupted"
    assert float(at) - sent < 0.5
    assert process.wait(timeout=30) == 3
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_ends_the_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "equipoise", "serve", "--dev"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) in (0, -signal.SIGINT)
