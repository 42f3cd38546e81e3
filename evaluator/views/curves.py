"""Charts of comparators and judges, drawn here so that a page needs no script."""

from dataclasses import dataclass

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 210, 44, 58, 12, 38


@dataclass(frozen=True)
class Chart:
    title: str
    lines: list[dict]  # css, points "x,y x,y", label, label_y, dots
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    base: int = HEIGHT - BOTTOM


def learning_curves(curve: list[dict]) -> list[Chart]:
    """The training loss by member. Empty without points."""
    if not curve:
        return []
    epochs = sorted({p["epoch"] for p in curve})
    folds = sorted({p["fold"] for p in curve})
    losses = [(f"{fold + 1}", "line", [(p["epoch"], p["train_loss"]) for p in curve if p["fold"] == fold]) for fold in folds]
    return [_chart("Training loss, by member", losses, epochs)]


def _chart(title: str, series, epochs: list[int]) -> Chart:
    values = [y for _, _, points in series for _, y in points if y is not None] or [0.0, 1.0]
    low, high = min(values), max(values)
    margin = max((high - low) * 0.1, 0.01)
    low, high = low - margin, high + margin
    first, last = 1, max(max(epochs), 2)

    def x(epoch):
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (epoch - first) / (last - first), 1)

    def y(value):
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - value) / (high - low), 1)

    lines, taken = [], []
    for label, css, points in series:
        places = [(x(epoch), y(value)) for epoch, value in points if value is not None]
        if places:
            label_y = _free(places[-1][1] + 4, taken)
            lines.append(
                {
                    "css": css,
                    "points": " ".join(f"{px},{py}" for px, py in places),
                    "dots": places,
                    "label": label,
                    "label_x": places[-1][0] + 6,
                    "label_y": label_y,
                }
            )
    ticks = [low + (high - low) * share for share in (0.1, 0.5, 0.9)]
    return Chart(title, lines, [(y(t), f"{t:.2f}") for t in ticks], [(x(e), str(e)) for e in range(first, last + 1)])


def _free(y: float, taken: list[float]) -> float:
    """A height for a label that does not lie on another's."""
    while any(abs(y - other) < 12 for other in taken):
        y += 3
    taken.append(y)
    return round(y, 1)


SIDE = 230


@dataclass(frozen=True)
class Reliability:
    """What was said against what came true, on a square from 0 to 1."""

    dots: list[tuple[float, float, float]]  # x, y, radius
    side: int = SIDE


def reliability_chart(bins: list[dict]) -> Reliability | None:
    """bins: {said, right, n}, the mean probability stated and the share that came true; None without bins."""
    if not bins:
        return None
    most = max(1, *(b["n"] for b in bins))
    dots = [
        (round(SIDE * b["said"], 1), round(SIDE * (1 - b["right"]), 1), round(2 + 6 * (max(b["n"], 0) / most) ** 0.5, 1))
        for b in bins
    ]
    return Reliability(dots)


@dataclass(frozen=True)
class Scatter:
    """A judge's scores from left to right, people's mean scores upwards."""

    dots: list[tuple[float, float]]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    width: int = 360
    height: int = 260
    left: int = 44
    base: int = 222


def scatter_plot(points: list[list[float]]) -> Scatter | None:
    """points: (the judge's score, people's mean score); None without points."""
    if not points:
        return None
    xs, ys = zip(*points)
    x, x_ticks = _axis(xs, Scatter.left + 8, Scatter.width - 10)
    y, y_ticks = _axis(ys, Scatter.base - 8, 10)
    return Scatter([(x(a), y(b)) for a, b in points], x_ticks, y_ticks)


def _axis(values, start: float, end: float):
    """(the place of a value between start and end, three ticks)"""
    low, high = min(values), max(values)
    size = (high - low) or 1.0

    def place(value: float) -> float:
        return round(start + (end - start) * (value - low) / size, 1)

    ticks = [low] if low == high else [low, (low + high) / 2, high]
    return place, [(place(t), f"{t:.3g}".replace("-", "\u2212")) for t in ticks]
