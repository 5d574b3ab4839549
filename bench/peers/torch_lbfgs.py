"""PyTorch's LBFGS with strong_wolfe for the inner problem, from the last model; one Hessian solve for the hypergradient.

Gradients are hand-written, which is faster here than autograd. LBFGS tests the largest entry of the gradient, so its
tolerance is 1e-7/√n, which bounds the norm by 1e-7. It gets one thread or all, whichever is faster on this problem.
"""

from measure import arguments, fastest, limit_blas

OPTIONS = arguments(__doc__)
limit_blas(OPTIONS.threads)

import numpy as np  # noqa: E402
import torch  # noqa: E402

from lbfgs import run_peer  # noqa: E402


class TorchLbfgs:
    """The bilevel problem as a map from weights to ∇P."""

    def __init__(self, problem):
        self.problem = problem
        signed = torch.from_numpy(problem.a * problem.y[:, None])
        self.columns = [part.T.contiguous() for part in torch.split(signed, problem.client_rows)]
        problem.forget_rows()

    def choose_threads(self, max_threads):
        """The number of threads with the fastest pass."""
        self.reset()
        uniform = [1.0] * self.problem.n_clients
        best, _ = fastest(sorted({1, max_threads}), torch.set_num_threads, lambda: self.inner(uniform))
        return best

    def reset(self):
        self.theta = torch.zeros(self.problem.n, dtype=torch.float64, requires_grad=True)
        self.iterations = self.not_converged = 0
        self.last = None

    def inner(self, weights):
        """ℓ and ∇ℓ at the model. Skips clients of weight 0."""
        problem, theta = self.problem, self.theta.detach()
        value = 0.5 * problem.ridge * torch.dot(theta, theta)
        gradient = problem.ridge * theta
        for weight, columns in zip(weights, self.columns):
            if weight > 0:
                margins = theta @ columns
                share = weight / problem.n_rows
                value = value - share * torch.nn.functional.logsigmoid(margins).sum()
                gradient = gradient - share * (columns @ torch.sigmoid(-margins))
        return value, gradient

    def fit(self, weights):
        problem = self.problem
        optimiser = torch.optim.LBFGS(
            [self.theta],
            lr=1.0,
            max_iter=problem.max_iterations,
            max_eval=20 * problem.max_iterations,
            tolerance_grad=problem.tolerance / np.sqrt(problem.n),
            tolerance_change=0.0,
            history_size=20,
            line_search_fn="strong_wolfe",
        )

        def closure():
            value, self.theta.grad = self.inner(weights)
            return value

        optimiser.step(closure)
        self.iterations += optimiser.state[self.theta]["n_iter"]
        _, gradient = self.inner(weights)
        self.not_converged += bool(torch.linalg.norm(gradient) > problem.tolerance)

    def hypergradient(self, weights, rho):
        problem = self.problem
        self.fit(weights)
        theta = self.theta.detach()
        # One pass, unless neither model nor weights changed.
        at = (theta.numpy().tobytes(), weights.tobytes())
        if self.last is None or self.last[0] != at:
            self.last = at, self.implicit(theta, weights)
        hessian, gradients = self.last[1]
        outer = torch.from_numpy(problem.outer_gradient(theta.numpy(), rho))
        v = torch.linalg.solve(hessian, outer)
        return -(gradients @ v).numpy() / problem.n_rows

    def implicit(self, theta, weights):
        """The Hessian of ℓ and g_c of all clients."""
        problem = self.problem
        hessian = problem.ridge * torch.eye(problem.n, dtype=torch.float64)
        gradients = []
        for weight, columns in zip(weights, self.columns):
            p = torch.sigmoid(-(theta @ columns))
            gradients.append(-(columns @ p))
            if weight > 0:
                hessian += (weight / problem.n_rows) * ((columns * (p - p * p)) @ columns.T)
        return hessian, torch.stack(gradients)


if __name__ == "__main__":
    run_peer(OPTIONS, TorchLbfgs, "torch_lbfgs", "torch")
