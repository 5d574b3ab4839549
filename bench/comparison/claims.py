"""Checks the requirements."""

from . import grid, instructions, large, roofline, scaling
from .plan import CLAIMS, OURS_ADAM, OURS_GAUSS_NEWTON, OURS_TRUST, SAME_OBJECTIVE, SAME_OBJECTIVE_ON
from .wording import SOLVERS, claim, table, times


def find(results, problem, solver, steps):
    """The successful run of a solver on a problem, or None."""
    for result in results:
        for run in result.get("runs", []) if result["name"] == problem else []:
            own = run["solver"] == solver and (solver in (OURS_GAUSS_NEWTON, OURS_TRUST) or run["steps"] == steps)
            if own and "failed" not in run:
                return run
    return None


def check(results, answers):
    """A table with a row per requirement. `answers` holds the results of the steps other than the problems."""
    rows = faster(results) + [same_objective(results, peer) for peer in SAME_OBJECTIVE_ON[1]]
    modules = {"grid": grid, "roofline": roofline, "scaling": scaling, "large": large, "instructions": instructions}
    for name, module in modules.items():
        rows += module.check(answers.get(name, {}))
    return table(["requirement", "required", "measured", "met"], rows)


def faster(results):
    rows = []
    for required in CLAIMS:
        ours = find(results, required.problem, required.solver, required.steps)
        peer = find(results, required.problem, required.peer, required.steps)
        limit = f"at least {required.factor:g}× as fast"
        what = f"{required.problem}: {SOLVERS[required.solver]} against {SOLVERS[required.peer]}"
        if required.peer == "jaxopt_peer":
            what += ", without its compilation"
        if ours and peer:
            ratio = peer["median"] / ours["median"]
            rows.append(claim(what, limit, times(ratio), ratio >= required.factor))
        else:
            rows.append(claim(what, limit))
    return rows


def same_objective(results, peer):
    problem = SAME_OBJECTIVE_ON[0]
    run = find(results, problem, peer, 2000)
    what = f"{problem}: final objective, {SOLVERS[OURS_ADAM]} against {SOLVERS[peer]}"
    limit = f"relative difference at most {SAME_OBJECTIVE:g}"
    if not run:
        return claim(what, limit)
    difference = abs(run["difference"])
    return claim(what, limit, f"{difference:.0e}", difference <= SAME_OBJECTIVE)
