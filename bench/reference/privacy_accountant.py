"""Reference values for the privacy accountant, from Google's dp-accounting 0.6.

    pip install dp-accounting==0.6.0 && python3 bench/reference/privacy_accountant.py > FILE

with FILE = crates/equipoise-core/src/proxy/privacy/accountant/reference.json. Each value is the epsilon of some ρ-zCDP events and a
delta by the Rényi accountant. Its orders are so close together that the best of them is within 1e-8 of the best order.
"""

import json

import numpy as np
from dp_accounting import NeighboringRelation, ZCDpEvent
from dp_accounting.rdp import RdpAccountant

RHOS = [1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]
DELTAS = [1e-9, 1e-6, 1e-5, 1e-3]
# Several releases: their ρ add up.
COMPOSED = [[0.02, 0.03], [0.08, 0.06, 0.04], [0.5, 0.25, 0.25]]


def epsilon(rhos: list[float], delta: float) -> float:
    orders = 1 + np.exp(np.linspace(np.log(0.011), np.log(1e5), 400_000))
    accountant = RdpAccountant(orders, NeighboringRelation.ADD_OR_REMOVE_ONE)
    for rho in rhos:
        accountant.compose(ZCDpEvent(rho))
    return float(accountant.get_epsilon(delta))


def main() -> None:
    cases = [[rho] for rho in RHOS] + COMPOSED
    values = [{"rhos": rhos, "delta": delta, "epsilon": epsilon(rhos, delta)} for rhos in cases for delta in DELTAS]
    print("[\n" + ",\n".join(json.dumps(value) for value in values) + "\n]")


if __name__ == "__main__":
    main()
