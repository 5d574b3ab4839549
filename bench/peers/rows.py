"""The weighted inner problem over all rows at once, for peers that know nothing of clients inside a fit."""

import numpy as np

# Factors 1 + e^−|m| are at most 2, so this many multiply without overflow: one logarithm for all of them.
FACTORS = 512


class WeightedRows:
    """ℓ(θ; w) of the proxies: value with gradient, Hessian, gradients of the clients."""

    def __init__(self, problem):
        self.problem = problem
        # Column by column, labels folded in.
        self.columns = np.ascontiguousarray(problem.a.T) * problem.y
        problem.forget_rows()
        self.last = None
        self.starts = np.concatenate([[0], np.cumsum(problem.client_rows)])

    def client_slices(self):
        return [slice(a, b) for a, b in zip(self.starts[:-1], self.starts[1:])]

    def value_and_gradient(self, theta, weights):
        """ℓ and ∇ℓ. Clients of weight 0 are not looked at."""
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
        """H of ℓ, and g_c of every client: one pass, unless neither model nor weights have moved."""
        at = (theta.tobytes(), weights.tobytes())
        if self.last is None or self.last[0] != at:
            self.last = at, self.implicit_anew(theta, weights)
        return self.last[1]

    def implicit_anew(self, theta, weights):
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
    """Σ log of factors between 1 and 2."""
    whole = len(factors) // FACTORS * FACTORS
    products = np.multiply.reduce(factors[:whole].reshape(FACTORS, -1), axis=0)
    return np.log(products).sum() + np.log(factors[whole:]).sum()
