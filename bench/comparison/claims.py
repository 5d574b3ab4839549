"""What must come out, and whether it did."""

from . import disk, grid, instructions, large, roofline, scaling
from .plan import CLAIMS, OURS_ADAM, SAME_OBJECTIVE, SAME_OBJECTIVE_ON
from .wording import SOLVERS, claim, table, times


def find(results, problem, solver, steps):
    """The run of a solver on a problem, if there is one with figures."""
    for result in results:
        for run in result.get("runs", []) if result["name"] == problem else []:
            own = run["solver"] == solver and (solver == "default" or run["steps"] == steps)
            if own and "failed" not in run:
                return run
    return None


def check(results, answers):
    """A table, a row per claim. `answers` has what came of the steps beside the problems."""
    rows = faster(results) + [same_objective(results, peer) for peer in SAME_OBJECTIVE_ON[1]]
    modules = {"grid": grid, "roofline": roofline, "scaling": scaling, "large": large, "disk": disk, "instructions": instructions}
    for name, module in modules.items():
        rows += module.check(answers.get(name, {}))
    return table(["claim", "wanted", "measured", "holds"], rows)


def faster(results):
    """Ours against peers."""
    rows = []
    for wish in CLAIMS:
        ours = find(results, wish.problem, wish.solver, wish.steps)
        peer = find(results, wish.problem, wish.peer, wish.steps)
        wanted = f"at least {wish.factor:g}× as fast"
        what = f"{wish.problem}: {SOLVERS[wish.solver]} against {SOLVERS[wish.peer]}"
        if wish.peer == "jaxopt_peer":
            what += ", its compilation left out"
        if ours and peer:
            ratio = peer["median"] / ours["median"]
            rows.append(claim(what, wanted, times(ratio), ratio >= wish.factor))
        else:
            rows.append(claim(what, wanted))
    return rows


def same_objective(results, peer):
    problem = SAME_OBJECTIVE_ON[0]
    run = find(results, problem, peer, 2000)
    what = f"{problem}: last objective, {SOLVERS[OURS_ADAM]} against {SOLVERS[peer]}"
    wanted = f"same to {SAME_OBJECTIVE:g}"
    if not run:
        return claim(what, wanted)
    difference = abs(run["difference"])
    return claim(what, wanted, f"{difference:.0e}", difference <= SAME_OBJECTIVE)
