"""Figures as the document writes them, and Markdown tables."""

SOLVERS = {
    "paper": "**Equipoise**, Adam (`--profile paper`)",
    "default": "**Equipoise**, Gauss–Newton (the default)",
    "numpy_newton": "NumPy + Newton",
    "numpy_newton-distinct": "NumPy + Newton, equal rows merged",
    "scipy_lbfgs": "SciPy L-BFGS-B",
    "jaxopt_peer": "jaxopt LBFGS",
    "torch_lbfgs": "PyTorch LBFGS",
}


def table(columns, rows):
    """Markdown. A column that begins with `>` is aligned to the right."""
    heads = [column.lstrip(">") for column in columns]
    rules = ["---:" if column.startswith(">") else "---" for column in columns]
    lines = [heads, rules, *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def growth(tolerated):
    """Proportional, as far as that is wanted."""
    return f"{1 - tolerated:g}× to {1 + tolerated:g}×"


def claim(what, wanted, measured=None, holds=None):
    """A row of the table of what must hold."""
    return [what, wanted, "not measured" if measured is None else measured, "–" if holds is None else yes(holds)]


def not_measured(title, answer):
    """A section without figures."""
    return f"{title}\nNot measured: {answer['failed']}.\n"


def seconds(value):
    """Three digits that count, and a unit."""
    if value < 1e-6:
        return f"{1e9 * value:.3g} ns"
    if value < 1e-3:
        return f"{1e6 * value:.3g} µs"
    if value < 1:
        return f"{1e3 * value:.3g} ms"
    return f"{value:.3g} s" if value < 100 else f"{value:.0f} s"


def times(value):
    """A ratio."""
    return f"{value:.2g}×" if value < 10 else f"{value:.0f}×"


def memory(value):
    """Bytes."""
    if value is None:
        return "–"
    mebibytes = value / 2**20
    if mebibytes >= 1024:
        return f"{mebibytes / 1024:.2f} GiB"
    return f"{mebibytes:.1f} MiB" if mebibytes < 10 else f"{mebibytes:.0f} MiB"


def share(value):
    """A relative difference, signed."""
    return "0" if value == 0 else f"{value:+.0e}".replace("e-0", "e-").replace("e+00", "")


def objective(value):
    return f"{value:.8g}"


def yes(holds):
    return "yes" if holds else "**no**"
