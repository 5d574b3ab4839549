"""The paper's outer loop, Algorithm 2: Adam from uniform weights, projected onto the simplex."""

import numpy as np


def project_onto_simplex(point):
    """The closest point with w ≥ 0 and Σ w = 1, by sorting (Algorithm 3)."""
    descending = np.sort(point)[::-1]
    candidates = (np.cumsum(descending) - 1.0) / np.arange(1, len(point) + 1)
    shift = candidates[np.nonzero(descending > candidates)[0][-1]]
    return np.maximum(point - shift, 0.0)


def run_adam(problem, hypergradient, steps):
    """The weights at the start of each step and after the last one. `hypergradient(w, rho)` returns ∇P(w)."""
    adam = problem.header["adam"]
    rate, beta1, beta2 = adam["learning_rate"], adam["beta1"], adam["beta2"]
    weights = np.full(problem.n_clients, 1.0 / problem.n_clients)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    path = [weights]
    for step, rho in enumerate(problem.rho_of_steps(steps), start=1):
        gradient = hypergradient(weights, rho)
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient * gradient
        scaled = np.sqrt(square / (1 - beta2**step)) + adam["epsilon"]
        weights = project_onto_simplex(weights - rate * (mean / (1 - beta1**step)) / scaled)
        path.append(weights)
    return np.array(path)
