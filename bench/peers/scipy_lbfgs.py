"""SciPy's L-BFGS-B for the inner problem, from the last model; implicit differentiation by one Hessian solve.

The test on the change in value is disabled, because it would stop before the gradient tolerance is met. L-BFGS-B tests the
largest entry of the gradient, so its tolerance is 1e-7/√n, which bounds the norm by 1e-7. Fits skip clients of weight 0.
"""

import numpy as np
from scipy.optimize import minimize

from problem import run_adam


class Peer:
    """The bilevel problem as a map from weights to ∇P."""

    def __init__(self, problem, threads, steps):
        self.problem, self.steps = problem, steps
        self.columns = [np.ascontiguousarray(rows.T) for rows in problem.clients()]
        tolerance, most = problem.tolerance / np.sqrt(problem.n), problem.max_iterations
        self.options = {"gtol": tolerance, "ftol": 0.0, "maxiter": most, "maxfun": 20 * most, "maxcor": 20, "maxls": 50}

    def solve(self):
        self.theta = np.zeros(self.problem.n)
        return run_adam(self.problem, self.hypergradient, self.steps)

    def value_and_gradient(self, theta, weights):
        """ℓ and ∇ℓ."""
        value, gradient = 0.0, np.zeros(self.problem.n)
        for weight, columns in zip(weights, self.columns):
            if weight > 0:
                margins = theta @ columns
                small = np.exp(-np.abs(margins))
                value += weight * (np.log1p(small).sum() - np.minimum(margins, 0.0).sum())
                gradient -= weight * (columns @ (np.where(margins >= 0, small, 1.0) / (1.0 + small)))
        ridge, n_rows = self.problem.ridge, self.problem.n_rows
        return value / n_rows + 0.5 * ridge * (theta @ theta), gradient / n_rows + ridge * theta

    def hypergradient(self, weights, rho):
        problem = self.problem
        self.theta = theta = minimize(
            self.value_and_gradient, self.theta, args=(weights,), jac=True, method="L-BFGS-B", options=self.options
        ).x
        hessian, gradients = problem.ridge * np.eye(problem.n), []
        for weight, columns in zip(weights, self.columns):
            p = 1.0 / (1.0 + np.exp(theta @ columns))
            gradients.append(-(columns @ p))
            if weight > 0:
                hessian += (weight / problem.n_rows) * ((columns * (p - p * p)) @ columns.T)
        v = np.linalg.solve(hessian, problem.outer_gradient(theta, rho))
        return -(np.array(gradients) @ v) / problem.n_rows
