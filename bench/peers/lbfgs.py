"""Shared by the peers that use the L-BFGS of a library."""

from adam import run_adam
from measure import repeat, report
from problem import Problem


def solve(peer, steps):
    """Runs Adam from uniform weights and the model 0, and returns the trajectory."""
    peer.reset()
    return run_adam(peer.problem, peer.hypergradient, steps)


def run_peer(options, make, solver, library):
    """Measures the peer that `make` creates for the problem, and prints the results."""
    problem = Problem(options.problem, options.tolerance)
    peer = make(problem)
    threads = peer.choose_threads(options.threads)
    seconds, path = repeat(lambda: solve(peer, options.steps), options, lambda: solve(peer, 2))
    report(
        options,
        problem,
        ["numpy", library],
        seconds,
        path,
        solver=solver,
        threads=threads,
        inner_iterations=peer.iterations,
        inner_not_converged=peer.not_converged,
    )
