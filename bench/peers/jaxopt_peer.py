"""jaxopt's LBFGS with implicit differentiation. The whole outer loop is one compiled program, in 64 bits.

The inner solve starts from the last model. The linear system of the implicit derivative is solved by Cholesky, which with few
variables is faster and more accurate than jaxopt's default, conjugate gradients. Compilation is timed separately.
"""

from measure import arguments, limit_blas, repeat, report, timed

OPTIONS = arguments(__doc__)
limit_blas(OPTIONS.threads)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import jaxopt  # noqa: E402
import numpy as np  # noqa: E402

from problem import Problem  # noqa: E402

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")


def project_onto_simplex(point):
    """By sorting (Algorithm 3)."""
    descending = jnp.sort(point)[::-1]
    candidates = (jnp.cumsum(descending) - 1.0) / jnp.arange(1, len(point) + 1)
    last = jnp.sum(descending > candidates) - 1
    return jnp.maximum(point - candidates[last], 0.0)


def make_solve(problem, steps):
    """Compiles the solve. It maps rows to the weight trajectory, inner iterations and number of fits that did not converge."""
    adam = problem.header["adam"]
    rate, beta1, beta2 = adam["learning_rate"], adam["beta1"], adam["beta2"]
    ends = tuple(np.cumsum(problem.client_rows)[:-1].tolist())
    rhos = jnp.asarray(problem.rho_of_steps(steps))
    d_sp, d_eo, nu, ridge = problem.d_sp, problem.d_eo, problem.nu, problem.ridge

    def inner(theta, weights, signed):
        losses = jnp.split(jax.nn.softplus(-(signed @ theta)), ends)
        sums = jnp.stack([part.sum() for part in losses])
        return weights @ sums / problem.n_rows + 0.5 * ridge * (theta @ theta)

    def outer(theta, rho, root):
        squared = (1 - nu) * (d_sp @ theta) ** 2 + nu * (d_eo @ theta) ** 2
        loss = jax.nn.softplus(-(root @ theta)).mean()
        return loss + 0.5 * ridge * (theta @ theta) + 0.5 * rho * squared

    solver = jaxopt.LBFGS(
        inner,
        maxiter=problem.max_iterations,
        tol=problem.tolerance,
        history_size=20,
        implicit_diff=True,
        implicit_diff_solve=jaxopt.linear_solve.solve_cholesky,
        jit=True,
    )

    def objective(weights, start, rho, signed, root):
        theta, state = solver.run(start, weights, signed)
        return outer(theta, rho, root), (theta, state.iter_num, state.error)

    gradient_of = jax.grad(objective, has_aux=True)

    def solve(signed, root):
        def step(carry, rho):
            weights, theta, mean, square, count, iterations, failed = carry
            gradient, (theta, iters, error) = gradient_of(weights, theta, rho, signed, root)
            count = count + 1
            mean = beta1 * mean + (1 - beta1) * gradient
            square = beta2 * square + (1 - beta2) * gradient * gradient
            scaled = jnp.sqrt(square / (1 - beta2**count)) + adam["epsilon"]
            weights = weights - rate * (mean / (1 - beta1**count)) / scaled
            failed = failed + (error > problem.tolerance)
            weights = project_onto_simplex(weights)
            carry = weights, theta, mean, square, count, iterations + iters, failed
            return carry, weights

        uniform = jnp.full(problem.n_clients, 1.0 / problem.n_clients)
        zeros = jnp.zeros(problem.n_clients)
        start = uniform, jnp.zeros(problem.n), zeros, zeros, 0.0, 0, 0
        end, path = jax.lax.scan(step, start, rhos)
        return jnp.vstack([uniform, path]), end[5], end[6]

    return jax.jit(solve)


def main():
    problem = Problem(OPTIONS.problem, OPTIONS.tolerance)
    signed = jnp.asarray(problem.a * problem.y[:, None])
    root = jnp.asarray(problem.root_signed)
    problem.forget_rows()
    compile_seconds, compiled = timed(
        lambda: make_solve(problem, OPTIONS.steps).lower(signed, root).compile()
    )
    seconds, (path, iterations, failed) = repeat(
        lambda: jax.block_until_ready(compiled(signed, root)), OPTIONS, lambda: None
    )
    report(
        OPTIONS,
        problem,
        ["jax", "jaxlib", "jaxopt", "numpy"],
        seconds,
        np.asarray(path),
        solver="jaxopt_peer",
        threads=OPTIONS.threads,
        compile_seconds=compile_seconds,
        inner_iterations=int(iterations),
        inner_not_converged=int(failed),
    )


if __name__ == "__main__":
    main()
