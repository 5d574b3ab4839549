"""SciPy's L-BFGS-B for the inner problem, from the last model; implicit differentiation by one Hessian solve.

The test on the change in value is disabled, because it would stop before the gradient tolerance is met. L-BFGS-B tests the
largest entry of the gradient, so its tolerance is 1e-7/√n, which bounds the norm by 1e-7. Fits skip clients of weight 0.
BLAS gets one thread or all, whichever is faster on this problem.
"""

from measure import arguments, fastest, limit_blas

OPTIONS = arguments(__doc__)
limit_blas(OPTIONS.threads)

import numpy as np  # noqa: E402
from scipy.optimize import minimize  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

from lbfgs import run_peer  # noqa: E402
from rows import WeightedRows  # noqa: E402


class ScipyLbfgs:
    """The bilevel problem as a map from weights to ∇P."""

    def __init__(self, problem):
        self.problem, self.rows = problem, WeightedRows(problem)
        self.options = {
            "gtol": problem.tolerance / np.sqrt(problem.n),
            "ftol": 0.0,
            "maxiter": problem.max_iterations,
            "maxfun": 20 * problem.max_iterations,
            "maxcor": 20,
            "maxls": 50,
        }

    def choose_threads(self, max_threads):
        """The number of BLAS threads with the fastest pass."""
        theta, weights = np.zeros(self.problem.n), np.ones(self.problem.n_clients)
        best, _ = fastest(
            sorted({1, max_threads}),
            lambda threads: threadpool_limits(limits=threads),
            lambda: self.rows.value_and_gradient(theta, weights),
        )
        return best

    def reset(self):
        self.theta = np.zeros(self.problem.n)
        self.rows.last = None
        self.iterations = self.not_converged = 0

    def hypergradient(self, weights, rho):
        fit = minimize(
            self.rows.value_and_gradient,
            self.theta,
            args=(weights,),
            jac=True,
            method="L-BFGS-B",
            options=self.options,
        )
        self.theta = fit.x
        self.iterations += fit.nit
        self.not_converged += bool(np.linalg.norm(fit.jac) > self.problem.tolerance)
        hessian, gradients = self.rows.implicit(fit.x, weights)
        v = np.linalg.solve(hessian, self.problem.outer_gradient(fit.x, rho))
        return -(gradients @ v) / self.problem.n_rows


if __name__ == "__main__":
    run_peer(OPTIONS, ScipyLbfgs, "scipy_lbfgs", "scipy")
