"""NumPy with Newton inner solves, as fast as NumPy allows without a loop over rows.

Client statistics g_c and H_c are cached per θ. After the weights change, the first Newton step, the implicit solve and the
cross term need no pass over the rows, and if the gradient is already small enough, no pass is needed at all. Clients of
weight 0 are skipped until their gradient is needed, and their Hessians are never computed. Rows are stored by column,
multiplied by their labels, in blocks that fit into the cache. The line search tests the slope instead of the value, which
saves the logarithms.

Before the timed runs, the peer measures several methods of making a pass on this problem and keeps the fastest: Hessians as
products A D Aᵀ by BLAS, or as sums of precomputed products a_i a_j if these fit into memory, on one thread or with the
blocks shared among threads.
"""

from measure import arguments, fastest, limit_blas, repeat, report, timed

OPTIONS = arguments(__doc__)
# A thread pool shares the blocks. BLAS gets one thread: more do not help with so few columns.
limit_blas(1)

import itertools  # noqa: E402
import threading  # noqa: E402
from concurrent.futures import ThreadPoolExecutor  # noqa: E402

import numpy as np  # noqa: E402

from adam import run_adam  # noqa: E402
from problem import Problem  # noqa: E402

BLOCK_ROWS = 16384
# Products are precomputed only if all of them fit into this many bytes.
MAX_PRODUCT_BYTES = 64 * 2**20


class Block:
    """A block of rows of one client."""

    def __init__(self, client, signed):
        self.client = client
        self.columns = np.ascontiguousarray(signed.T)
        self.products = None

    def make_products(self):
        """Precomputes a_i a_j of all rows, i ≥ j."""
        self.lower = np.tril_indices(len(self.columns))
        self.products = self.columns[self.lower[0]] * self.columns[self.lower[1]]

    def drop_products(self):
        self.products = None

    def gradient(self, theta):
        """σ(−m) of the rows, and their contribution to g_c."""
        p = theta @ self.columns
        np.exp(p, out=p)
        p += 1.0
        np.divide(1.0, p, out=p)
        return p, -(self.columns @ p)

    def hessian(self, p):
        """The contribution of the rows to H_c."""
        curvature = p - p * p
        if self.products is None:
            scaled = np.multiply(self.columns, curvature, out=scratch(self.columns.shape))
            return scaled @ self.columns.T
        hessian = np.empty((len(self.columns),) * 2)
        rows, columns = self.lower
        hessian[rows, columns] = hessian[columns, rows] = self.products @ curvature
        return hessian


LOCAL = threading.local()


def scratch(shape):
    """A thread-local array with arbitrary content."""
    if getattr(LOCAL, "array", None) is None or LOCAL.array.shape != shape:
        LOCAL.array = np.empty(shape)
    return LOCAL.array


class Point:
    """A model and its statistics, computed on demand."""

    def __init__(self, peer, theta):
        self.peer, self.theta = peer, theta
        self.gradients = np.zeros((peer.n_clients, peer.n))
        self.hessians = np.zeros((peer.n_clients, peer.n, peer.n))
        self.flat_hessians = self.hessians.reshape(peer.n_clients, -1)
        self.has_gradient = np.zeros(peer.n_clients, dtype=bool)
        self.has_hessian = np.zeros(peer.n_clients, dtype=bool)
        self.p = {}

    def compute(self, weights):
        """Gradients and Hessians of the clients with positive weight."""
        positive = weights > 0
        self.add(positive & ~self.has_gradient, positive & ~self.has_hessian)

    def add(self, gradients, hessians):
        blocks = [b for b in self.peer.blocks if gradients[b.client] or hessians[b.client]]
        if not blocks:
            return
        sums = self.peer.map(lambda block: self.sums(block, gradients, hessians), blocks)
        for block, (gradient, hessian) in zip(blocks, sums):
            if gradient is not None:
                self.gradients[block.client] += gradient
            if hessian is not None:
                self.hessians[block.client] += hessian
        self.has_gradient |= gradients
        self.has_hessian |= hessians

    def sums(self, block, gradients, hessians):
        gradient = hessian = None
        if gradients[block.client]:
            self.p[block], gradient = block.gradient(self.theta)
        if hessians[block.client]:
            hessian = block.hessian(self.p[block])
        return gradient, hessian

    def all_gradients(self):
        """g_c of all clients, including those of weight 0."""
        self.add(~self.has_gradient, np.zeros_like(self.has_hessian))
        return self.gradients


class NumpyNewton:
    """The bilevel problem as a map from weights to ∇P."""

    def __init__(self, problem, threads):
        self.problem, self.n, self.n_clients = problem, problem.n, problem.n_clients
        self.diagonal = problem.ridge * np.eye(self.n)
        self.blocks = []
        for client, (a, y) in enumerate(problem.clients()):
            signed = a * y[:, None]
            n_blocks = -(-len(signed) // BLOCK_ROWS)
            self.blocks += [Block(client, part) for part in np.array_split(signed, n_blocks)]
        problem.forget_rows()
        self.pool = ThreadPoolExecutor(threads)
        (self.hessian_method, self.threads), self.method_seconds = self.choose(threads)
        self.reset()

    def choose(self, threads):
        """Times the methods of making a pass and keeps the fastest."""
        product_bytes = 8 * problem.n_rows * self.n * (self.n + 1) // 2
        hessians = ["blas"] + ["products"] * (product_bytes <= MAX_PRODUCT_BYTES)
        threads = [1] + [threads] * (threads > 1 and len(self.blocks) > 1)
        methods = itertools.product(hessians, threads)
        best, seconds = fastest(list(methods), self.use, self.one_pass)
        named = {f"{hessian}, {n} threads": median for (hessian, n), median in seconds.items()}
        return best, named

    def use(self, method):
        hessians, threads = method
        self.map = self.pool.map if threads > 1 else map
        for block in self.blocks:
            if hessians == "blas":
                block.drop_products()
            elif block.products is None:
                block.make_products()

    def one_pass(self):
        Point(self, np.zeros(self.n)).compute(np.ones(self.n_clients))

    def reset(self):
        """Forgets the last model."""
        self.point = Point(self, np.zeros(self.n))
        self.newton_steps = self.not_converged = 0

    def gradient(self, point, weights):
        return weights @ point.gradients / self.problem.n_rows + self.problem.ridge * point.theta

    def hessian(self, point, weights):
        return (weights @ point.flat_hessians).reshape(self.n, self.n) / self.problem.n_rows + self.diagonal

    def fit(self, weights):
        """θ(w) from the last model."""
        point = self.point
        point.compute(weights)
        gradient = self.gradient(point, weights)
        for _ in range(self.problem.max_iterations):
            if gradient @ gradient <= self.problem.tolerance**2:
                break
            self.newton_steps += 1
            step = np.linalg.solve(self.hessian(point, weights), gradient)
            decrease, length = step @ gradient, 1.0
            while True:
                trial = Point(self, point.theta - length * step)
                trial.compute(weights)
                trial_gradient = self.gradient(trial, weights)
                # The objective is convex, so the step is short enough if the slope at its end is small.
                if -(step @ trial_gradient) <= 0.5 * decrease or length < 1e-9:
                    break
                length *= 0.5
            point, gradient = trial, trial_gradient
        else:
            self.not_converged += 1
        self.point = point
        return point

    def hypergradient(self, weights, rho):
        point = self.fit(weights)
        outer = self.problem.outer_gradient(point.theta, rho)
        v = np.linalg.solve(self.hessian(point, weights), outer)
        return -(point.all_gradients() @ v) / self.problem.n_rows

    def solve(self, steps):
        self.reset()
        with np.errstate(over="ignore"):
            return run_adam(self.problem, self.hypergradient, steps)


def main():
    problem = Problem(OPTIONS.problem, OPTIONS.tolerance)
    prepare_seconds, peer = timed(lambda: NumpyNewton(problem, OPTIONS.threads))
    seconds, path = repeat(lambda: peer.solve(OPTIONS.steps), OPTIONS, lambda: peer.solve(5))
    report(
        OPTIONS,
        problem,
        ["numpy"],
        seconds,
        path,
        solver="numpy_newton",
        prepare_seconds=prepare_seconds,
        hessians=peer.hessian_method,
        threads=peer.threads,
        pass_seconds=peer.method_seconds,
        inner_iterations=peer.newton_steps,
        inner_not_converged=peer.not_converged,
    )


if __name__ == "__main__":
    main()
