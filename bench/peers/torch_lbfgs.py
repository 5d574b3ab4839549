"""PyTorch's LBFGS with strong_wolfe for the inner problem, from the last model; one Hessian solve for the hypergradient.

Gradients are hand-written, which is faster here than autograd. LBFGS tests the largest entry of the gradient, so its
tolerance is 1e-7/√n, which bounds the norm by 1e-7.
"""

import numpy as np
import torch

from problem import run_adam


class Peer:
    """The bilevel problem as a map from weights to ∇P."""

    def __init__(self, problem, threads, steps):
        self.problem, self.steps = problem, steps
        self.columns = [torch.from_numpy(rows).T.contiguous() for rows in problem.clients()]
        torch.set_num_threads(threads)

    def solve(self):
        self.theta = torch.zeros(self.problem.n, dtype=torch.float64, requires_grad=True)
        return run_adam(self.problem, self.hypergradient, self.steps)

    def inner(self, weights):
        """ℓ and ∇ℓ at the model. Skips clients of weight 0."""
        problem, theta = self.problem, self.theta.detach()
        value = 0.5 * problem.ridge * torch.dot(theta, theta)
        gradient = problem.ridge * theta
        for weight, columns in zip(weights, self.columns):
            if weight > 0:
                margins, share = theta @ columns, weight / problem.n_rows
                value = value - share * torch.nn.functional.logsigmoid(margins).sum()
                gradient = gradient - share * (columns @ torch.sigmoid(-margins))
        return value, gradient

    def fit(self, weights):
        optimiser = torch.optim.LBFGS(
            [self.theta],
            max_iter=self.problem.max_iterations,
            max_eval=20 * self.problem.max_iterations,
            tolerance_grad=self.problem.tolerance / np.sqrt(self.problem.n),
            tolerance_change=0.0,
            history_size=20,
            line_search_fn="strong_wolfe",
        )

        def closure():
            value, self.theta.grad = self.inner(weights)
            return value

        optimiser.step(closure)

    def hypergradient(self, weights, rho):
        self.fit(weights)
        problem, theta = self.problem, self.theta.detach()
        hessian, gradients = problem.ridge * torch.eye(problem.n, dtype=torch.float64), []
        for weight, columns in zip(weights, self.columns):
            p = torch.sigmoid(-(theta @ columns))
            gradients.append(-(columns @ p))
            if weight > 0:
                hessian += (weight / problem.n_rows) * ((columns * (p - p * p)) @ columns.T)
        v = torch.linalg.solve(hessian, torch.from_numpy(problem.outer_gradient(theta.numpy(), rho)))
        return -(torch.stack(gradients) @ v).numpy() / problem.n_rows
