"""NumPy with Newton inner solves from the last model, as fast as NumPy allows without a loop over rows.

Client statistics g_c and H_c are cached per θ. After the weights change, the first Newton step, the implicit solve and the
cross term need no pass over the rows, and if the gradient is already small enough, no pass is needed at all. Clients of
weight 0 are skipped until their gradient is needed, and their Hessians are never computed. Rows are stored by column, in
blocks that fit into the cache and are shared among threads. The line search tests the slope instead of the value, which
saves the logarithms.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from problem import run_adam

BLOCK_ROWS = 16384


class Point:
    """A model and its statistics, computed on demand."""

    def __init__(self, peer, theta):
        n_clients, n = peer.problem.n_clients, peer.problem.n
        self.peer, self.theta = peer, theta
        self.gradients, self.hessians = np.zeros((n_clients, n)), np.zeros((n_clients, n * n))
        self.has_gradient, self.has_hessian = np.zeros((2, n_clients), dtype=bool)
        self.p = {}

    def compute(self, gradients, hessians):
        """Computes what is missing, for these clients."""
        gradients, hessians = gradients & ~self.has_gradient, hessians & ~self.has_hessian
        needed = [i for i, (client, _) in enumerate(self.peer.blocks) if gradients[client] or hessians[client]]
        for client, gradient, hessian in self.peer.map(lambda i: self.sums(i, gradients, hessians), needed):
            self.gradients[client] += gradient
            self.hessians[client] += hessian
        self.has_gradient |= gradients
        self.has_hessian |= hessians

    def sums(self, index, gradients, hessians):
        client, columns = self.peer.blocks[index]
        gradient = hessian = 0.0
        if gradients[client]:
            self.p[index] = 1.0 / (1.0 + np.exp(self.theta @ columns))
            gradient = -(columns @ self.p[index])
        if hessians[client]:
            p = self.p[index]
            hessian = ((columns * (p - p * p)) @ columns.T).ravel()
        return client, gradient, hessian


class Peer:
    """The bilevel problem as a map from weights to ∇P."""

    def __init__(self, problem, threads, steps):
        self.problem, self.steps = problem, steps
        self.diagonal = problem.ridge * np.eye(problem.n)
        self.blocks = [
            (client, np.ascontiguousarray(part.T))
            for client, rows in enumerate(problem.clients())
            for part in np.array_split(rows, -(-len(rows) // BLOCK_ROWS))
        ]
        self.map = ThreadPoolExecutor(threads).map if threads > 1 else map

    def solve(self):
        self.point = Point(self, np.zeros(self.problem.n))
        return run_adam(self.problem, self.hypergradient, self.steps)

    def gradient(self, point, weights):
        return weights @ point.gradients / self.problem.n_rows + self.problem.ridge * point.theta

    def newton_step(self, point, weights, right):
        """H⁻¹ · right."""
        hessian = (weights @ point.hessians).reshape(self.diagonal.shape) / self.problem.n_rows + self.diagonal
        return np.linalg.solve(hessian, right)

    def fit(self, weights):
        """θ(w) from the last model."""
        point, positive = self.point, weights > 0
        point.compute(positive, positive)
        gradient = self.gradient(point, weights)
        for _ in range(self.problem.max_iterations):
            if gradient @ gradient <= self.problem.tolerance**2:
                break
            step, length = self.newton_step(point, weights, gradient), 1.0
            while True:
                trial = Point(self, point.theta - length * step)
                trial.compute(positive, positive)
                trial_gradient = self.gradient(trial, weights)
                # The objective is convex, so the step is short enough if the slope at its end is small.
                if -(step @ trial_gradient) <= 0.5 * (step @ gradient) or length < 1e-9:
                    break
                length *= 0.5
            point, gradient = trial, trial_gradient
        self.point = point
        return point

    def hypergradient(self, weights, rho):
        point = self.fit(weights)
        v = self.newton_step(point, weights, self.problem.outer_gradient(point.theta, rho))
        everyone = np.ones(len(weights), dtype=bool)
        point.compute(everyone, ~everyone)
        return -(point.gradients @ v) / self.problem.n_rows
