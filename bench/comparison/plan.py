"""What is run: problems, the contests on each, and what must come out."""

import sys
from dataclasses import dataclass

OURS_ADAM = "paper"
OURS_GAUSS_NEWTON = "default"
NUMPY = "numpy_newton"
DISTINCT = "numpy_newton-distinct"
SLOW = ("scipy_lbfgs", "jaxopt_peer", "torch_lbfgs")
PEERS = (NUMPY, DISTINCT) + SLOW


@dataclass(frozen=True)
class Contest:
    """Peers that do the same steps as ours."""

    steps: int
    peers: tuple


@dataclass(frozen=True)
class ProblemPlan:
    """A problem and what runs on it."""

    name: str
    title: str
    contests: tuple
    # Repeats, and seconds after which no further repeat begins: ours and NumPy's, and the slow peers'.
    repeats: int = 5
    budget: float = 60
    slow_budget: float = 20
    # Whether NumPy runs once more with a smaller inner tolerance, to see how firm the last objective is.
    firmness: bool = True
    needs_data: bool = False


FULL = (
    ProblemPlan("law-school", "Law School", (Contest(2000, (NUMPY,) + SLOW),), needs_data=True),
    ProblemPlan("dutch", "Dutch", (Contest(2000, PEERS),), needs_data=True),
    ProblemPlan(
        "synthetic-100000", "Synthetic, 10⁵ people", (Contest(2000, (NUMPY,)), Contest(200, SLOW))
    ),
    ProblemPlan(
        "synthetic-1000000",
        "Synthetic, 10⁶ people",
        (Contest(2000, (NUMPY,)), Contest(40, SLOW)),
        firmness=False,
    ),
)

QUICK = (
    ProblemPlan(
        "synthetic-10000",
        "Synthetic, 10⁴ people",
        (Contest(200, PEERS),),
        repeats=3,
        budget=10,
        slow_budget=5,
    ),
)


@dataclass(frozen=True)
class Claim:
    """Ours, `solver`, is at least `factor` times as fast as a peer on a problem."""

    problem: str
    solver: str
    peer: str
    factor: float

    @property
    def steps(self):
        return 2000


CLAIMS = (
    Claim("law-school", OURS_ADAM, NUMPY, 10),
    Claim("law-school", OURS_ADAM, "jaxopt_peer", 30),
    Claim("law-school", OURS_GAUSS_NEWTON, NUMPY, 50),
    Claim("dutch", OURS_GAUSS_NEWTON, NUMPY, 20),
)
# On the first of these problems, last objectives of the same steps must agree to this share.
SAME_OBJECTIVE = 1e-6
SAME_OBJECTIVE_ON = ("law-school", (NUMPY, "jaxopt_peer"))


def choose(options):
    """The problems that the command line asks for, with the peers that it asks for."""
    known = {problem.name: problem for problem in FULL + QUICK}
    names = options.problems.split(",") if options.problems else None
    problems = [known.get(name) for name in names] if names else QUICK if options.quick else FULL
    peers = options.peers.split(",") if options.peers else list(PEERS)
    if None in problems or not set(peers) <= set(PEERS):
        sys.exit(f"problems: {', '.join(known)}\npeers: {', '.join(PEERS)}")
    if not options.torch:
        peers = [peer for peer in peers if peer != "torch_lbfgs"]

    def with_peers(problem):
        contests = tuple(
            Contest(contest.steps, tuple(peer for peer in contest.peers if peer in peers))
            for contest in problem.contests
        )
        return ProblemPlan(**{**vars(problem), "contests": contests})

    return [with_peers(problem) for problem in problems]
