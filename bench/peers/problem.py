"""A problem as the lab's example `compare` saves it, and what all peers share.

    P(w) = F(θ(w)),  F = root loss + (λ/2n²)‖θ‖² + (ρ/2) d_SP²
    θ(w) = argmin (1/N) Σ_c w_c L_c(θ) + (λ/2n²)‖θ‖²
"""

import json
from pathlib import Path

import numpy as np


class Problem:
    """A round as NumPy arrays. Rows are a = (x, s, 1), multiplied by their labels, −1 or +1."""

    def __init__(self, file):
        header = json.loads(Path(file).read_text())
        numbers = np.fromfile(Path(file).with_suffix(".bin"), dtype="<f8")
        n, self.client_rows, n_root = header["n"], header["proxy_rows"], header["root_rows"]
        self.n, self.n_rows, self.n_clients = n, sum(self.client_rows), len(self.client_rows)
        parts = np.split(numbers, np.cumsum([self.n_rows * n, self.n_rows, n_root * n]))
        self.signed = parts[0].reshape(-1, n) * parts[1][:, None]
        root = parts[2].reshape(-1, n)
        self.root_signed = root * parts[3][:, None]
        sensitive = root[:, header["sensitive"]]
        self.d_sp = (sensitive - sensitive.mean()) @ root / n_root
        self.ridge = header["lambda"] / n**2
        self.adam, self.rho = header["adam"], header["rho"]
        self.tolerance, self.max_iterations = header["inner_tolerance"], header["inner_iterations"]

    def clients(self):
        """The signed rows of each client."""
        return np.split(self.signed, np.cumsum(self.client_rows)[:-1])

    def rho_of_steps(self, steps):
        """ρ of each step. The schedule scales with the number of steps."""
        every = max(1, self.rho["every"] * steps // self.adam["steps"])
        raises = (np.arange(steps) // every).astype(float)
        return np.minimum(self.rho["start"] * self.rho["factor"] ** raises, self.rho["max"])

    def outer_gradient(self, theta, rho):
        """∂F/∂θ."""
        p = 1.0 / (1.0 + np.exp(self.root_signed @ theta))
        return -(p @ self.root_signed) / len(p) + self.ridge * theta + rho * (self.d_sp @ theta) * self.d_sp

    def objective(self, weights):
        """P at the final ρ, with the inner problem solved from 0 to 1e-10 by plain Newton."""
        row_weights = np.repeat(np.asarray(weights) / self.n_rows, self.client_rows)
        theta = np.zeros(self.n)
        for _ in range(200):
            p = 1.0 / (1.0 + np.exp(self.signed @ theta))
            gradient = -((row_weights * p) @ self.signed) + self.ridge * theta
            if np.linalg.norm(gradient) <= 1e-10:
                break
            curvature = row_weights * p * (1 - p)
            hessian = (self.signed * curvature[:, None]).T @ self.signed + self.ridge * np.eye(self.n)
            step, length = np.linalg.solve(hessian, gradient), 1.0
            here = self.inner(theta, row_weights)
            # Near the minimum, differences in value are rounding errors, and the full step is right.
            while length > 1e-6 and self.inner(theta - length * step, row_weights) > here + 1e-13 * abs(here):
                length *= 0.5
            theta = theta - length * step
        loss = np.logaddexp(0.0, -(self.root_signed @ theta)).mean()
        return loss + 0.5 * self.ridge * (theta @ theta) + 0.5 * self.rho["max"] * (self.d_sp @ theta) ** 2

    def inner(self, theta, row_weights):
        losses = np.logaddexp(0.0, -(self.signed @ theta))
        return row_weights @ losses + 0.5 * self.ridge * (theta @ theta)


def run_adam(problem, hypergradient, steps):
    """The paper's Algorithm 2: Adam from uniform weights, projected onto the simplex. Returns the final weights."""
    adam = problem.adam
    rate, beta1, beta2 = adam["learning_rate"], adam["beta1"], adam["beta2"]
    weights = np.full(problem.n_clients, 1.0 / problem.n_clients)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step, rho in enumerate(problem.rho_of_steps(steps), start=1):
        gradient = hypergradient(weights, rho)
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient * gradient
        scaled = np.sqrt(square / (1 - beta2**step)) + adam["epsilon"]
        weights = project_onto_simplex(weights - rate * (mean / (1 - beta1**step)) / scaled)
    return weights


def project_onto_simplex(point):
    """The closest point with w ≥ 0 and Σ w = 1, by sorting (Algorithm 3)."""
    descending = np.sort(point)[::-1]
    candidates = (np.cumsum(descending) - 1.0) / np.arange(1, len(point) + 1)
    shift = candidates[np.nonzero(descending > candidates)[0][-1]]
    return np.maximum(point - shift, 0.0)
