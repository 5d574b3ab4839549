"""jaxopt's LBFGS with implicit differentiation. The whole outer loop is one compiled program, in 64 bits.

The inner solve starts from the last model. The linear system of the implicit derivative is solved by Cholesky, which with few
variables is faster and more accurate than jaxopt's default, conjugate gradients. Compilation is not timed.
"""

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


class Peer:
    def __init__(self, problem, threads, steps):
        self.rows = jnp.asarray(problem.signed), jnp.asarray(problem.root_signed)
        self.compiled = make_solve(problem, steps).lower(*self.rows).compile()

    def solve(self):
        return np.asarray(jax.block_until_ready(self.compiled(*self.rows)))


def project_onto_simplex(point):
    """By sorting (Algorithm 3)."""
    descending = jnp.sort(point)[::-1]
    candidates = (jnp.cumsum(descending) - 1.0) / jnp.arange(1, len(point) + 1)
    last = jnp.sum(descending > candidates) - 1
    return jnp.maximum(point - candidates[last], 0.0)


def make_solve(problem, steps):
    """Maps rows to the final weights."""
    adam = problem.adam
    rate, beta1, beta2 = adam["learning_rate"], adam["beta1"], adam["beta2"]
    ends = tuple(np.cumsum(problem.client_rows)[:-1].tolist())
    rhos = jnp.asarray(problem.rho_of_steps(steps))
    d_sp, ridge, n_rows = problem.d_sp, problem.ridge, problem.n_rows

    def inner(theta, weights, signed):
        losses = jnp.split(jax.nn.softplus(-(signed @ theta)), ends)
        return weights @ jnp.stack([part.sum() for part in losses]) / n_rows + 0.5 * ridge * (theta @ theta)

    solver = jaxopt.LBFGS(
        inner,
        maxiter=problem.max_iterations,
        tol=problem.tolerance,
        history_size=20,
        implicit_diff=True,
        implicit_diff_solve=jaxopt.linear_solve.solve_cholesky,
        jit=True,
    )

    def outer(weights, start, rho, signed, root):
        theta = solver.run(start, weights, signed).params
        loss = jax.nn.softplus(-(root @ theta)).mean()
        return loss + 0.5 * ridge * (theta @ theta) + 0.5 * rho * (d_sp @ theta) ** 2, theta

    def solve(signed, root):
        def step(carry, rho):
            weights, theta, mean, square, count = carry
            gradient, theta = jax.grad(outer, has_aux=True)(weights, theta, rho, signed, root)
            count = count + 1
            mean = beta1 * mean + (1 - beta1) * gradient
            square = beta2 * square + (1 - beta2) * gradient * gradient
            scaled = jnp.sqrt(square / (1 - beta2**count)) + adam["epsilon"]
            weights = project_onto_simplex(weights - rate * (mean / (1 - beta1**count)) / scaled)
            return (weights, theta, mean, square, count), None

        zeros = jnp.zeros(problem.n_clients)
        start = zeros + 1.0 / problem.n_clients, jnp.zeros(problem.n), zeros, zeros, 0.0
        return jax.lax.scan(step, start, rhos)[0][0]

    return jax.jit(solve)
