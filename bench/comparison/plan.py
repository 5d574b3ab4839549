"""The problems, the solvers that run on each, and the required results."""

import sys
from dataclasses import dataclass

OURS_ADAM = "paper"
OURS_GAUSS_NEWTON = "bilevel"
OURS_TRUST = "trust"
NUMPY = "numpy_newton"
SLOW = ("scipy_lbfgs", "jaxopt_peer", "torch_lbfgs")
PEERS = (NUMPY, *SLOW)


@dataclass(frozen=True)
class Contest:
    """Peers that run the same number of steps as Equipoise."""

    steps: int
    peers: tuple


@dataclass(frozen=True)
class ProblemPlan:
    """A problem and the solvers that run on it."""

    name: str
    title: str
    contests: tuple
    # Equipoise and NumPy alternate this often, so that background load affects both.
    turns: int = 1
    # Total repeats, and seconds after which no repeat starts, for Equipoise and NumPy and for the slow peers.
    repeats: int = 5
    budget: float = 60
    slow_budget: float = 20
    # Whether NumPy also runs with a smaller inner tolerance, to see how sensitive the final objective is.
    sensitivity: bool = True

    @property
    def repeats_per_turn(self):
        return -(-self.repeats // self.turns)


FULL = (
    # Short runs need more repeats, because the load of a shared machine varies from second to second.
    ProblemPlan("law-school", "Law School", (Contest(2000, (NUMPY,) + SLOW),), turns=5, repeats=15),
    ProblemPlan("dutch", "Dutch", (Contest(2000, PEERS),), turns=3, repeats=9),
    ProblemPlan(
        "synthetic-100000", "Synthetic, 10⁵ people", (Contest(2000, (NUMPY,)), Contest(200, SLOW))
    ),
    ProblemPlan(
        "synthetic-1000000",
        "Synthetic, 10⁶ people",
        (Contest(2000, (NUMPY,)), Contest(40, SLOW)),
        sensitivity=False,
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
    """Equipoise with `solver` is at least `factor` times as fast as a peer on a problem."""

    problem: str
    solver: str
    peer: str
    factor: float

    @property
    def steps(self):
        return 2000


CLAIMS = (
    Claim("law-school", OURS_ADAM, NUMPY, 5),
    Claim("law-school", OURS_ADAM, "jaxopt_peer", 30),
    Claim("law-school", OURS_GAUSS_NEWTON, NUMPY, 50),
    Claim("dutch", OURS_GAUSS_NEWTON, NUMPY, 20),
    # The default defense is no slower than the default before it.
    Claim("law-school", OURS_TRUST, OURS_GAUSS_NEWTON, 1),
)
# The paper's grid: number of seeds, and by how much the objective of Gauss–Newton may exceed Adam's.
GRID_SEEDS = 5
GRID_EXCESS = 1e-6
# A pass with Hessians: entries per row, minimum share of the roofline, minimum speed-up of two threads.
ROOFLINE_ENTRIES = (12, 64)
ROOFLINE_SHARE = 0.5
ROOFLINE_SPEED_UP = 1.8
# Maximum relative increase in instructions, as in bench/instructions.
MAX_MORE_INSTRUCTIONS = 0.03
INSTRUCTIONS_QUICK = ("pass-hessian-12", "inner-fit")


@dataclass(frozen=True)
class LargePlan:
    """Rounds in memory with different numbers of rows."""

    rows: tuple
    features: int
    clients: int


LARGE = LargePlan((100_000, 1_000_000, 10_000_000), 16, 1_000)
LARGE_QUICK = LargePlan((10_000, 100_000), 16, 100)
# Memory required for 10⁷ rows; limits for the largest solve; allowed deviation from proportional growth.
MIN_MEMORY = 8 * 10**9
LARGE_SECONDS = 180
LARGE_BYTES = 4 * 2**30
LARGE_GROWTH = 0.2
# Time and memory that the default defense may take there, as a multiple of those of bilevel.
LARGE_TRUST_FACTOR = 2
# Growth is also measured with few clients, between these numbers of rows.
GROWTH_ROWS = (100_000, 10_000_000)


# Steps other than the problems, in order, with estimated seconds in a full and in a quick run.
STEPS = {
    "grid": (70, 15),
    "roofline": (30, 12),
    "scaling": (180, 10),
    "large": (150, 5),
    "instructions": (60, 10),
}
PROBLEM_SECONDS = {
    "law-school": 100,
    "dutch": 150,
    "synthetic-100000": 200,
    "synthetic-1000000": 300,
    "synthetic-10000": 40,
}


def expected_seconds(step, quick):
    return STEPS[step][quick] if step in STEPS else PROBLEM_SECONDS[step]


# Final objectives after the same steps must agree to this relative tolerance, on this problem.
SAME_OBJECTIVE = 1e-6
SAME_OBJECTIVE_ON = ("law-school", (NUMPY, "jaxopt_peer"))


def steps(options):
    """The steps selected on the command line, except the problems."""
    if options.only is None:
        return list(STEPS)
    selected = options.only.split(",")
    if not set(selected) <= {*STEPS, "problems"}:
        sys.exit(f"steps: problems, {', '.join(STEPS)}")
    return [step for step in STEPS if step in selected]


def choose(options):
    """The problems and peers selected on the command line."""
    known = {problem.name: problem for problem in FULL + QUICK}
    if options.only is not None and "problems" not in options.only.split(","):
        return []
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
