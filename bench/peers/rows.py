"""The weighted inner problem, for peers that use the L-BFGS of a library."""

import numpy as np

# The product of this many factors 1 + e^−|m| ≤ 2 does not overflow, so one logarithm suffices for all of them.
FACTORS = 512


class WeightedRows:
    """ℓ(θ; w) of the proxies: value, gradient, Hessian and client gradients."""

    def __init__(self, problem):
        self.problem = problem
        # Stored by column, multiplied by the labels.
        self.columns = np.ascontiguousarray(problem.a.T) * problem.y
        problem.forget_rows()
        self.last = None
        self.starts = np.concatenate([[0], np.cumsum(problem.client_rows)])

    def client_slices(self):
        return [slice(a, b) for a, b in zip(self.starts[:-1], self.starts[1:])]

    def value_and_gradient(self, theta, weights):
        """ℓ and ∇ℓ. Skips clients of weight 0."""
        problem, value = self.problem, 0.0
        gradient = np.zeros(problem.n)
        for weight, rows in zip(weights, self.client_slices()):
            if weight > 0:
                loss, part, _ = self.client(rows, theta)
                value += weight * loss
                gradient += weight * part
        value = value / problem.n_rows + 0.5 * problem.ridge * (theta @ theta)
        return value, gradient / problem.n_rows + problem.ridge * theta

    def client(self, rows, theta):
        """L_c, g_c and σ(−m)."""
        columns = self.columns[:, rows]
        margins = theta @ columns
        small = np.abs(margins)
        np.exp(-small, out=small)
        factors = 1.0 + small
        loss = sum_of_logs(factors) - np.minimum(margins, 0.0).sum()
        p = np.where(margins >= 0, small, 1.0) / factors
        return loss, -(columns @ p), p

    def implicit(self, theta, weights):
        """The Hessian of ℓ and g_c of all clients, in one pass, or cached if neither model nor weights changed."""
        at = (theta.tobytes(), weights.tobytes())
        if self.last is None or self.last[0] != at:
            self.last = at, self.compute_implicit(theta, weights)
        return self.last[1]

    def compute_implicit(self, theta, weights):
        problem = self.problem
        hessian = problem.ridge * np.eye(problem.n)
        gradients = np.empty((problem.n_clients, problem.n))
        for client, (weight, rows) in enumerate(zip(weights, self.client_slices())):
            _, gradients[client], p = self.client(rows, theta)
            if weight > 0:
                columns = self.columns[:, rows]
                hessian += (weight / problem.n_rows) * ((columns * (p - p * p)) @ columns.T)
        return hessian, gradients


def sum_of_logs(factors):
    """The sum of the logarithms of factors between 1 and 2."""
    whole = len(factors) // FACTORS * FACTORS
    products = np.multiply.reduce(factors[:whole].reshape(FACTORS, -1), axis=0)
    return np.log(products).sum() + np.log(factors[whole:]).sum()
