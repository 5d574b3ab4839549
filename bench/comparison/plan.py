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
    # Ours and NumPy's take turns, so that each meets what else the machine does.
    turns: int = 1
    # Repeats of all turns, and seconds after which no further repeat begins: ours and NumPy's, and the slow peers'.
    repeats: int = 5
    budget: float = 60
    slow_budget: float = 20
    # Whether NumPy runs once more with a smaller inner tolerance, to see how firm the last objective is.
    firmness: bool = True

    @property
    def repeats_a_turn(self):
        return -(-self.repeats // self.turns)


FULL = (
    # The shortest ones: more repeats, for on a shared machine a second is not like the next.
    ProblemPlan("law-school", "Law School", (Contest(2000, (NUMPY,) + SLOW),), turns=5, repeats=15),
    ProblemPlan("dutch", "Dutch", (Contest(2000, PEERS),), turns=3, repeats=9),
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
# The paper's grid: seeds, and how far Gauss–Newton may end above Adam.
GRID_SEEDS = 5
GRID_EXCESS = 1e-6
# A pass with Hessians: entries of a row, share of the roofline, two threads against one.
ROOFLINE_ENTRIES = (12, 64)
ROOFLINE_SHARE = 0.5
ROOFLINE_SPEED_UP = 1.8
# More instructions than this share above the recorded ones are a regression, as bench/instructions has it.
INSTRUCTIONS_MORE = 0.03
INSTRUCTIONS_QUICK = ("pass-hessian-12", "inner-fit")


@dataclass(frozen=True)
class LargePlan:
    """Rounds in memory that differ in their rows."""

    rows: tuple
    features: int
    clients: int


LARGE = LargePlan((100_000, 1_000_000, 10_000_000), 16, 1_000)
LARGE_QUICK = LargePlan((10_000, 100_000), 16, 100)
# Memory from which on 10⁷ rows are tried; limits of the largest solve; how far growth may be from proportional.
ENOUGH_MEMORY = 8 * 10**9
LARGE_SECONDS = 180
LARGE_BYTES = 4 * 2**30
LARGE_GROWTH = 0.2
# Growth is also told for few clients, between these numbers of rows.
GROWTH_ROWS = (100_000, 10_000_000)


@dataclass(frozen=True)
class DiskPlan:
    """A round larger than its memory limit, and one that is solved with and without a limit."""

    rows: int
    limit_mebibytes: int
    same_rows: int
    same_limit: str
    features: int = 16
    clients: int = 8

    @property
    def limit(self):
        whole = self.limit_mebibytes % 1024 == 0
        return f"{self.limit_mebibytes // 1024}GiB" if whole else f"{self.limit_mebibytes}MiB"

    @property
    def limit_bytes(self):
        return self.limit_mebibytes * 2**20


DISK = DiskPlan(20_000_000, 1024, 1_000_000, "64MiB")
DISK_QUICK = DiskPlan(500_000, 256, 100_000, "16MiB")
# Bytes that must be free: the files and the scratch file of the large round.
DISK_FREE = 8 * 10**9

# Steps beside the problems, in their order, and rough seconds of each: in a whole run, in a quick one.
STEPS = {
    "grid": (70, 15),
    "roofline": (30, 12),
    "scaling": (180, 10),
    "large": (150, 5),
    "disk": (240, 10),
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
    """Rough seconds of a step."""
    return STEPS[step][quick] if step in STEPS else PROBLEM_SECONDS[step]


# On the first of these problems, last objectives of the same steps must agree to this share.
SAME_OBJECTIVE = 1e-6
SAME_OBJECTIVE_ON = ("law-school", (NUMPY, "jaxopt_peer"))


def steps(options):
    """The steps beside the problems that the command line asks for."""
    if options.only is None:
        return [step for step in STEPS if not (step == "disk" and options.no_disk)]
    wanted = options.only.split(",")
    if not set(wanted) <= {*STEPS, "problems"}:
        sys.exit(f"steps: problems, {', '.join(STEPS)}")
    return [step for step in STEPS if step in wanted]


def choose(options):
    """The problems that the command line asks for, with the peers that it asks for."""
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
