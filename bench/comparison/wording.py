"""Number formats and Markdown tables of the document."""

SOLVERS = {
    "paper": "**Equipoise**, Adam (`--profile paper`)",
    "trust": "**Equipoise**, trust (the default)",
    "bilevel": "**Equipoise**, Gauss–Newton (`--defense bilevel`)",
    "numpy_newton": "NumPy + Newton",
    "scipy_lbfgs": "SciPy L-BFGS-B",
    "jaxopt_peer": "jaxopt LBFGS",
    "torch_lbfgs": "PyTorch LBFGS",
}


def table(columns, rows):
    """A Markdown table. Columns whose name starts with `>` are aligned right."""
    heads = [column.lstrip(">") for column in columns]
    rules = ["---:" if column.startswith(">") else "---" for column in columns]
    lines = [heads, rules, *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def growth(tolerance):
    """The allowed deviation from proportional growth."""
    return f"{1 - tolerance:g}× to {1 + tolerance:g}×"


def claim(what, required, measured=None, met=None):
    """A row of the table of requirements."""
    return [what, required, "not measured" if measured is None else measured, "–" if met is None else yes(met)]


def not_measured(title, answer):
    """A section that reports a failed step."""
    return f"{title}\nNot measured: {answer['failed']}.\n"


def seconds(value):
    """Three significant digits and a unit."""
    if value < 1e-6:
        return f"{1e9 * value:.3g} ns"
    if value < 1e-3:
        return f"{1e6 * value:.3g} µs"
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def times(value):
    return f"{value:.2g}×" if value < 10 else f"{value:.0f}×"


def memory(value):
    if value is None:
        return "–"
    mebibytes = value / 2**20
    if mebibytes >= 1024:
        return f"{mebibytes / 1024:.2f} GiB"
    return f"{mebibytes:.1f} MiB" if mebibytes < 10 else f"{mebibytes:.0f} MiB"


def share(value):
    """A signed relative difference."""
    return "0" if value == 0 else f"{value:+.0e}".replace("e-0", "e-").replace("e+00", "")


def objective(value):
    return f"{value:.8g}"


def yes(met):
    return "yes" if met else "**no**"
