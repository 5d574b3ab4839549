"""A problem as saved by `save_problem`, its outer objective, and the evaluation of final weights.

    P(w) = F(θ(w)),  F = root loss + (λ/2n²)‖θ‖² + (ρ/2) [(1−ν) d_SP² + ν d_EO²]
    θ(w) = argmin (1/N) Σ_c w_c L_c(θ) + (λ/2n²)‖θ‖²
"""

import json
from pathlib import Path

import numpy as np


class Problem:
    """A round as NumPy arrays. Rows are a = (x, s[, 1]); labels are −1 or +1."""

    def __init__(self, file, tolerance=None):
        self.file = file
        header = json.loads(Path(file).read_text())
        if header["version"] != 1:
            raise ValueError(f"{file}: unsupported version {header['version']}")
        numbers = np.fromfile(Path(file).with_suffix(".bin"), dtype="<f8")
        n, proxy_rows, root_rows = header["n"], header["proxy_rows"], header["root_rows"]
        n_rows, n_root = sum(proxy_rows), sum(root_rows)
        sizes = [n_rows * n, n_rows, n_root * n, n_root]
        if numbers.size != sum(sizes):
            raise ValueError(f"{file}: {numbers.size} numbers instead of {sum(sizes)}")
        parts = np.split(numbers, np.cumsum(sizes)[:-1])
        self.header, self.name = header, header["name"]
        self.n, self.n_rows, self.n_clients = n, n_rows, len(proxy_rows)
        self.client_rows = proxy_rows
        self.a, self.y = parts[0].reshape(n_rows, n), parts[1]
        self.root_a, self.root_y = parts[2].reshape(n_root, n), parts[3]
        self.ridge = header["lambda"] / n**2
        # All saved problems have statistical parity; the other criterion of the paper is equal opportunity.
        self.nu = {"sp": 0.0, "eo": 1.0}[header["fairness"]]
        self.tolerance = tolerance or header["inner_tolerance"]
        self.max_iterations = header["inner_iterations"]

        centred = self.root_a[:, header["n_x"]]
        centred = (centred - centred.mean()) / n_root
        self.d_sp = centred @ self.root_a
        self.d_eo = (centred * (self.root_y > 0)) @ self.root_a
        # The loss and its derivatives depend only on the products y·a.
        self.root_signed = self.root_a * self.root_y[:, None]

    def clients(self):
        """The rows and labels of each client."""
        ends = np.cumsum(self.client_rows)[:-1]
        return list(zip(np.split(self.a, ends), np.split(self.y, ends)))

    def forget_rows(self):
        """Frees the proxy rows, for peers that have their own copy."""
        self.a = self.y = None

    def rho_of_steps(self, steps):
        """ρ of each step. The schedule scales with the number of steps."""
        rho, adam = self.header["rho"], self.header["adam"]
        every = max(1, rho["every"] * steps // adam["steps"])
        raises = np.arange(steps) // every
        return np.minimum(rho["start"] * rho["factor"] ** raises.astype(float), rho["max"])

    def outer_gradient(self, theta, rho):
        """∂F/∂θ."""
        with np.errstate(over="ignore"):
            p = 1.0 / (1.0 + np.exp(self.root_signed @ theta))
        penalty = (1 - self.nu) * (self.d_sp @ theta) * self.d_sp
        penalty += self.nu * (self.d_eo @ theta) * self.d_eo
        return -(p @ self.root_signed) / len(p) + self.ridge * theta + rho * penalty

    def outer_value(self, theta, rho):
        """F."""
        loss = np.logaddexp(0.0, -(self.root_signed @ theta)).mean()
        squared = (1 - self.nu) * (self.d_sp @ theta) ** 2 + self.nu * (self.d_eo @ theta) ** 2
        return loss + 0.5 * self.ridge * (theta @ theta) + 0.5 * rho * squared

    def judge(self, weights):
        """P at these weights and the final ρ, with the inner problem solved from 0 to 1e-10."""
        whole = self if self.a is not None else Problem(self.file)
        theta, residual = whole.fit(np.asarray(weights), 1e-10)
        return self.outer_value(theta, self.header["rho"]["max"]), residual

    def fit(self, weights, tolerance):
        """θ(w) by plain Newton with step halving, and the final norm of the gradient."""
        row_weights = np.repeat(weights / self.n_rows, self.client_rows)
        used = row_weights > 0
        signed, row_weights = (self.a * self.y[:, None])[used], row_weights[used]

        def value(theta):
            losses = np.logaddexp(0.0, -(signed @ theta))
            return row_weights @ losses + 0.5 * self.ridge * (theta @ theta)

        theta = np.zeros(self.n)
        for _ in range(200):
            with np.errstate(over="ignore"):
                p = 1.0 / (1.0 + np.exp(signed @ theta))
            gradient = -((row_weights * p) @ signed) + self.ridge * theta
            if np.linalg.norm(gradient) <= tolerance:
                break
            curvature = row_weights * p * (1 - p)
            hessian = (signed * curvature[:, None]).T @ signed + self.ridge * np.eye(self.n)
            step = np.linalg.solve(hessian, gradient)
            here, length = value(theta), 1.0
            # Near the minimum, differences in value are rounding errors, and the full step is right.
            while length > 1e-6 and value(theta - length * step) > here + 1e-13 * abs(here):
                length *= 0.5
            theta = theta - length * step
        return theta, float(np.linalg.norm(gradient))
