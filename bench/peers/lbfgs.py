"""What the peers that fit by an L-BFGS of a library share: a solve, and the run from the command line."""

from adam import run_adam
from measure import repeat, report
from problem import Problem


def solve(peer, steps):
    """So many Adam steps from uniform weights and the model 0; the path."""
    peer.reset()
    return run_adam(peer.problem, peer.hypergradient, steps)


def run_peer(options, make, solver, library):
    """Measures the peer that `make` makes of the problem, and prints the document."""
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
