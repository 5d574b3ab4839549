"""docs/BENCHMARKS.md."""

from . import claims, disk, grid, instructions, large, roofline, scaling
from .plan import NUMPY, OURS_ADAM, OURS_GAUSS_NEWTON
from .wording import SOLVERS, memory, not_measured, objective, seconds, share, table, times

HOW = """\
## How it is measured

- Every solver reads the same saved file: rows as 64-bit floats. Reading is not timed. Ours and the peers repeat the solve
  in one process, each time from uniform weights and the model 0; on short problems ours and NumPy take turns, several
  processes of each, so that both meet what else the machine does. The median of all is shown, with least and most. A run
  whose repeats would take too long has fewer: the column tells how many.
- Peers do what `--profile paper` does: Adam with step size 0.1, projection onto the simplex by sorting, ρ from 10 to 10⁴,
  each inner problem from the last model until its gradient's norm is at most 10⁻⁷, all in 64 bits. Where a
  table says fewer than 2000 steps, the schedule of ρ is shortened with them, and **ours did the same number of steps**:
  nothing is extrapolated.
- All may use {threads} threads. NumPy, SciPy and PyTorch are timed with one thread and with all before the clock starts,
  and take what is faster; JAX decides by itself; ours uses all.
- Gauss–Newton is another algorithm for the same problem, with inner fits to 10⁻¹¹: its ratio says what a user
  gains, not how well a loop is written. It is set against NumPy's {steps} Adam steps.
- What ours does when it makes a round ready, be it packing rows or merging equal ones, is done once and told below each
  table. "Equal rows merged" is NumPy with the same advantage, on a dataset that has equal rows.
- `P` is judged by one NumPy function for all: the inner problem is solved anew at the last weights, from 0 to 10⁻¹⁰, and F
  is taken at ρ = 10⁴. "Against ours" is (P − ours) / ours of the same steps.
- "Same way" counts the steps that began at the same weights as ours, to 10⁻⁶. L-BFGS stops closer to the tolerance than
  Newton does, so its ways part sooner. Under a large ρ Adam's steps of fixed length may jump across a narrow valley and
  never settle; rounding then decides where the last step ends, and last objectives differ, for a peer from itself
  too: below each table, NumPy's run is repeated with a smaller inner tolerance.
- Peak memory is that of the whole process: interpreter, libraries, problem, and what the solver adds; the judge is left out.

### The peers

| peer | what it does |
| --- | --- |
| [NumPy + Newton](../bench/peers/numpy_newton.py) | Keeps g_c and H_c by θ, so that after the weights move the first Newton step, the implicit solve and the cross term need no pass; leaves out clients of weight 0; rows by column, labels folded in, in blocks; Hessians by BLAS or from products made beforehand, whichever is faster. |
| … equal rows merged | The same, on distinct rows with counts; merging is not timed. |
| [SciPy](../bench/peers/scipy_lbfgs.py) | L-BFGS-B, 20 corrections, no test on the change of the value; one Hessian solve for the gradient of the weights. |
| [jaxopt](../bench/peers/jaxopt_peer.py) | LBFGS with implicit differentiation (by Cholesky), 2000 steps as one compiled program; compilation apart. |
| [PyTorch](../bench/peers/torch_lbfgs.py) | LBFGS with strong_wolfe, gradients by hand; only with `--torch`, for its package is very large. |
"""


# Steps beside the problems, in the order in which the document tells of them.
SECTIONS = {
    "grid": grid,
    "scaling": scaling,
    "large": large,
    "disk": disk,
    "roofline": roofline,
    "instructions": instructions,
}


def write(about, results, answers, wanted, options):
    """The whole document. `answers` has what came of each step beside the problems, by its name."""
    steps = next((c.steps for problem in wanted for c in problem.contests), 2000)
    parts = [
        "# Benchmarks\n",
        "Equipoise and Python peers on the same problems, on one machine, in one go. Written by\n\n"
        f"```sh\n{about['command']}\n```\n",
    ]
    if options.quick:
        parts.append("**A quick run: it shows that all works. Its figures mean little.**\n")
    parts += ["## What must hold\n", claims.check(results, answers) + "\n"]
    parts += ["## The machine\n", machine(about)]
    parts += [problem(result) for result in results]
    parts += [section(SECTIONS[name], answers[name]) for name in SECTIONS if name in answers]
    parts.append(HOW.format(threads=about["threads"], steps=steps))
    if not options.torch:
        parts.append("PyTorch was not asked for in this run.\n")
    parts += ["## The steps of this run\n", taken(about["steps"])]
    return "\n".join(parts)


def machine(about):
    versions = dict(about["versions"])
    python, blas, simd = versions.pop("python"), versions.pop("blas"), versions.pop("numpy_simd")
    libraries = ", ".join(f"{name} {version}" for name, version in versions.items())
    rows = [
        ["date", about["date"]],
        ["commit", about["commit"]],
        ["processor", f"{about['cpu']}, {about['cores']} cores; {', '.join(about['simd']) or 'flags unknown'}"],
        ["memory", f"{about['memory_bytes'] / 2**30:.0f} GiB"],
        ["system", about["system"]],
        ["Rust", about["rustc"]],
        ["Python", f"{python}; {libraries}"],
        ["BLAS of NumPy", f"{blas}; NumPy's own loops use {simd or 'the baseline'}"],
        ["threads", str(about["threads"])],
        ["load before the run", f"{about['load']:.1f}" + busy(about["load"])],
        ["other programs during the run", during(about["steps"])],
    ]
    return table(["", ""], rows) + "\n"


def busy(load):
    return " (**the machine was not idle: times are too long and uneven**)" if load > 0.5 else ""


def during(steps):
    """Processors that other programs kept busy, at worst."""
    known = [step for step in steps if step["others"] is not None]
    if not known:
        return "not known"
    worst = max(known, key=lambda step: step["others"])
    in_all = sum(step["others"] * step["seconds"] for step in known) / sum(step["seconds"] for step in known)
    text = f"{in_all:.2f} processors on average, at most {worst['others']:.2f} over a step ({worst['step']})"
    return text + busy(worst["others"])


def taken(steps):
    rows = []
    for step in steps:
        others = "–" if step["others"] is None else f"{step['others']:.2f}"
        rows.append([step["step"], seconds(step["seconds"]), others])
    rows.append(["all", seconds(sum(step["seconds"] for step in steps)), ""])
    return table(["step", ">took", ">processors busy with other programs"], rows) + "\n"


def section(module, answer):
    """What came of a step, or why nothing did."""
    return not_measured(module.TITLE, answer) if "failed" in answer else module.section(answer)


def problem(result):
    if "failed" in result:
        return not_measured(f"## {result['title']}\n", result)
    header = result["header"]
    n_rows, n_root = sum(header["proxy_rows"]), sum(header["root_rows"])
    about = (
        f"{header['about']}. {n_rows:,} proxy rows of {header['n']} entries, {len(header['clients'])} clients of which 3 are "
        f"unreliable, {n_root:,} root rows, statistical parity, seed 1. Content {header['sha256'][:12]}.\n"
    )
    columns = ["solver", ">steps", ">repeats", ">seconds", ">least – most", ">ours is faster by"]
    columns += [">P at ρ = 10⁴", ">against ours", ">same way", ">peak memory"]
    rows = [row(run, result["runs"]) for run in result["runs"]]
    return "\n".join([f"## {result['title']}\n", about, table(columns, rows) + "\n", notes(result)])


def row(run, runs):
    name = SOLVERS[run["solver"]]
    if "failed" in run:
        return [name, str(run["steps"]), f"failed: {run['failed']}"] + [""] * 7
    cells = [name, f"{run['steps']:,}", str(len(run["seconds"])), seconds(run["median"])]
    cells.append(f"{seconds(min(run['seconds']))} – {seconds(max(run['seconds']))}")
    if run["solver"] == OURS_ADAM:
        cells.append("1")
    elif run["solver"] == OURS_GAUSS_NEWTON:
        numpy = of(runs, NUMPY)
        cells.append(f"{times(numpy['median'] / run['median'])} than NumPy" if numpy else "–")
    else:
        cells.append(times(run["ratio"]))
    cells.append(objective(run["objective"]))
    if run["solver"] == OURS_GAUSS_NEWTON:
        adam = of(runs, OURS_ADAM)
        cells += [share((run["objective"] - adam["objective"]) / abs(adam["objective"])), "another"]
    elif run["solver"] == OURS_ADAM:
        cells += ["", ""]
    else:
        cells += [share(run["difference"]), f"{run['same_path']:,} of {run['steps']:,}"]
    return cells + [memory(run["peak_bytes"])]


def of(runs, solver):
    """The first run of a solver that has figures."""
    return next((run for run in runs if run["solver"] == solver and "failed" not in run), None)


def notes(result):
    """What the table has no column for."""
    runs, lines = result["runs"], []
    newton, adam, numpy = of(runs, OURS_GAUSS_NEWTON), of(runs, OURS_ADAM), of(runs, NUMPY)
    lines.append(
        f"- Ours: making the round ready, once and not in the times, {seconds(adam['prepare_seconds'])}. Adam made "
        f"{adam['counts']['passes']:,} passes over the rows for its {adam['steps']:,} steps, "
        f"Gauss–Newton {newton['counts']['passes']:,} in "
        f"{newton['counts']['evaluations']} evaluations ({newton['termination']})."
    )
    own = max(abs(run["own_objective"] / run["objective"] - 1) for run in (newton, adam))
    lines.append(f"- The objectives that ours reported itself differ from the judge's by {own:.0e} at most.")
    for run in runs:
        if run["solver"] in ("scipy_lbfgs", "torch_lbfgs") and "failed" not in run:
            lines.append(
                f"- {SOLVERS[run['solver']]}: {run['inner_iterations']:,} inner iterations, {threads(run)}, chosen by time."
            )
    if numpy:
        lines.append(
            f"- NumPy: {numpy['inner_iterations']:,} Newton steps; Hessians by {numpy['hessians']}, "
            f"{threads(numpy)}, chosen by time."
        )
    distinct = of(runs, "numpy_newton-distinct")
    if distinct:
        lines.append(f"- Equal rows merged: {distinct['rows']:,} of {sum(result['header']['proxy_rows']):,} rows are left.")
    jaxopt = of(runs, "jaxopt_peer")
    if jaxopt:
        lines.append(f"- jaxopt: {jaxopt['inner_iterations']:,} inner iterations; compilation took {seconds(jaxopt['compile_seconds'])} more, not in the times.")
    for run in runs:
        if run.get("inner_not_converged"):
            lines.append(f"- {SOLVERS[run['solver']]}: {run['inner_not_converged']} inner fits ended above the tolerance.")
    firmness = result["firmness"]
    if firmness:
        lines.append(
            f"- How firm the last objective is: NumPy's own run with inner tolerance {firmness['tolerance']:g} instead of 1e-07 "
            f"goes the same way for {firmness['same_path']:,} steps and ends {share(firmness['difference'])} from its usual P."
        )
    return "\n".join(lines) + "\n"


def threads(run):
    return f"{run['threads']} thread" + "s" * (run["threads"] > 1)
