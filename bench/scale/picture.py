"""Draws measured and predicted seconds as SVG, and how the prediction goes on."""

from dataclasses import replace
from typing import Any

from comparison.chart import COLOURS, STYLE, Scale, line, short, text

from .model import CostModel, size_of

WIDTH, HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 760, 360, 60, 48, 70, 20


def draw(model: CostModel, runs: list[dict[str, Any]]) -> str:
    """Rounds of 100 clients with 16 features and 2 GiB per worker: dots are measured, lines are the model."""
    own = [run for run in runs if (run["clients"], run["features"], run["memory"] >> 20) == (100, 16, 2048)]
    rows = sorted({run["rows"] for run in own})
    curve_rows = [rows[0] * (rows[-1] / rows[0]) ** (k / 60) for k in range(61)]
    workers = sorted({run["workers"] for run in own})
    first = {n: size_of(next(run for run in own if run["workers"] == n)) for n in workers}
    curves = {n: [(r, model.seconds(replace(first[n], rows=r))) for r in curve_rows] for n in workers}
    seconds = [run["seconds"] for run in own] + [s for points in curves.values() for _, s in points]
    y = Scale(seconds, (HEIGHT - BOTTOM, TOP), whole=True)
    x = Scale(rows, (LEFT + 12, WIDTH - RIGHT - 12))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Seconds of a round by rows, measured and predicted">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(8, 20, "Seconds of a round of 100 clients on two processors, logarithmic scales"),
        text(8, 40, "Lines: the cost model. Dots: measured. Hollow dots: not used for the fit."),
    ]
    for power in y.powers():
        parts.append(line(LEFT, y(power), WIDTH - RIGHT, y(power), None, "grid"))
        parts.append(text(LEFT - 6, y(power) + 4, f"{power:g} s", "end", "tick"))
    parts += [text(x(r), HEIGHT - BOTTOM + 17, short(r), "middle", "tick") for r in rows]
    parts.append(line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, None, "axis"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "rows", "middle"))
    for number, (colour, n) in enumerate(zip(COLOURS, workers, strict=False)):
        points = " ".join(f"{x(r):.1f},{y(s):.1f}" for r, s in curves[n])
        parts.append(f'<polyline class="line" points="{points}" stroke="{colour}"/>')
        for run in own:
            if run["workers"] == n:
                fill = colour if run["fitted"] else "#fff"
                parts.append(
                    f'<circle cx="{x(run["rows"]):.1f}" cy="{y(run["seconds"]):.1f}" r="4" fill="{fill}" stroke="{colour}"/>'
                )
        at = LEFT + 20 + 110 * number
        parts.append(line(at, TOP + 10, at + 22, TOP + 10, colour))
        parts.append(text(at + 28, TOP + 14, f"{n} worker" + "s" * (n > 1)))
    return "\n".join([*parts, "</svg>", ""])
