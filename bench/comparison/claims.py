"""What must come out, and whether it did."""

from .plan import CLAIMS, OURS_ADAM, SAME_OBJECTIVE, SAME_OBJECTIVE_ON
from .wording import SOLVERS, table, times, yes


def find(results, problem, solver, steps):
    """The run of a solver on a problem, if there is one with figures."""
    for result in results:
        for run in result["runs"] if result["name"] == problem else []:
            own = run["solver"] == solver and (solver == "default" or run["steps"] == steps)
            if own and "failed" not in run:
                return run
    return None


def check(results):
    """A table, a row per claim."""
    rows = []
    for claim in CLAIMS:
        ours = find(results, claim.problem, claim.solver, claim.steps)
        peer = find(results, claim.problem, claim.peer, claim.steps)
        wanted = f"at least {claim.factor:g}× as fast"
        what = f"{claim.problem}: {SOLVERS[claim.solver]} against {SOLVERS[claim.peer]}"
        if claim.peer == "jaxopt_peer":
            what += ", its compilation left out"
        if ours and peer:
            ratio = peer["median"] / ours["median"]
            rows.append([what, wanted, times(ratio), yes(ratio >= claim.factor)])
        else:
            rows.append([what, wanted, "not measured", "–"])
    rows += [same_objective(results, peer) for peer in SAME_OBJECTIVE_ON[1]]
    return table(["claim", "wanted", ">measured", "holds"], rows)


def same_objective(results, peer):
    problem = SAME_OBJECTIVE_ON[0]
    run = find(results, problem, peer, 2000)
    what = f"{problem}: last objective, {SOLVERS[OURS_ADAM]} against {SOLVERS[peer]}"
    wanted = f"same to {SAME_OBJECTIVE:g}"
    if not run:
        return [what, wanted, "not measured", "–"]
    return [what, wanted, f"{abs(run['difference']):.0e}", yes(abs(run["difference"]) <= SAME_OBJECTIVE)]
