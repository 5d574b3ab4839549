"""Draws the scaling chart as SVG: three panels with logarithmic scales."""

import math
from html import escape

WIDTH, HEIGHT, TOP, BOTTOM, LEFT, GAP = 960, 300, 56, 48, 64, 34
COLOURS = ("#c2410c", "#1d4ed8", "#047857", "#7c3aed")
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1f2937}.tick{font-size:12px;fill:#4b5563}"
    ".grid{stroke:#e5e7eb}.axis{stroke:#6b7280}.line{fill:none;stroke-width:2}"
)


def draw(points):
    names = list(dict.fromkeys(point["axis"] for point in points))
    threads = sorted({point["threads"] for point in points})
    y = Scale([point["median"] for point in points], (HEIGHT - BOTTOM, TOP), whole=True)
    panel = (WIDTH - LEFT - 16 - GAP * (len(names) - 1)) / len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Solve time by rows, features and clients">',
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(8, 20, "Solve time (Gauss–Newton, default settings), logarithmic scales"),
    ]
    for number, count in enumerate(threads):
        at = WIDTH - 16 - 110 * (len(threads) - number)
        parts.append(line(at, 16, at + 22, 16, COLOURS[number]))
        parts.append(text(at + 28, 20, f"{count} thread" + "s" * (count > 1)))
    for number, name in enumerate(names):
        left = LEFT + number * (panel + GAP)
        own = [point for point in points if point["axis"] == name]
        x = Scale([point["value"] for point in own], (left + 12, left + panel - 12))
        parts += frame(x, y, left, left + panel, name, number == 0)
        for colour, count in zip(COLOURS, threads):
            drawn = [point for point in own if point["threads"] == count]
            parts += curve([(x(p["value"]), y(p["median"])) for p in drawn], colour)
    return "\n".join(parts + ["</svg>", ""])


class Scale:
    """A logarithmic scale, with `whole` rounded outwards to powers of ten."""

    def __init__(self, values, ends, whole=False):
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        if whole:
            self.low, self.high = math.floor(self.low), math.ceil(self.high)
        if self.high - self.low < 1e-9:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        self.ends, self.values = ends, sorted(set(values))

    def __call__(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.ends[0] + share * (self.ends[1] - self.ends[0])

    def powers(self):
        """The powers of ten within the scale."""
        return [10.0**k for k in range(math.ceil(self.low), math.floor(self.high) + 1)]


def frame(x, y, left, right, name, labelled):
    parts = []
    for power in y.powers():
        parts.append(line(left, y(power), right, y(power), None, "grid"))
        if labelled:
            parts.append(text(left - 6, y(power) + 4, f"{power:g} s", "end", "tick"))
    free = -math.inf
    for value in x.values:
        label = short(value)
        half = 4 * len(label)
        if x(value) - half > free:
            parts.append(text(x(value), HEIGHT - BOTTOM + 17, label, "middle", "tick"))
            free = x(value) + half
    parts.append(line(left, HEIGHT - BOTTOM, right, HEIGHT - BOTTOM, None, "axis"))
    parts.append(text((left + right) / 2, HEIGHT - 10, name, "middle"))
    return parts


def curve(points, colour):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
    return [f'<polyline class="line" points="{path}" stroke="{colour}"/>', *dots]


def short(value):
    """Writes 1000000 as 10⁶ and 300000 as 3·10⁵, but leaves small numbers as they are."""
    if value < 10_000:
        return f"{value:,}"
    power = int(math.log10(value) + 1e-9)
    lead = value / 10**power
    digits = "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power))
    return f"10{digits}" if abs(lead - 1) < 1e-9 else f"{lead:g}·10{digits}"


def text(x, y, content, anchor="start", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(content)}</text>'


def line(x1, y1, x2, y2, colour=None, kind="line"):
    stroke = f' stroke="{colour}"' if colour else ""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"{stroke}/>'
