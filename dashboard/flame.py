"""A flame graph as a page draws it: a box for each frame, as wide as its part of the samples. Pure.

A tree is {"name", "value", "children": [tree]}. A frame's place in it is the way there from the
root, as `at` has it in addresses: "0.2" is the third child of the first child.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Frames that are drawn: no deeper, no narrower (in percent), no more.
DEPTH, NARROWEST, MOST = 80, 0.2, 1_200
#: Pixels of a row; percent of the width from which a frame has its name written in it.
ROW, NAMED = 20, 1.5
_COLOURS = 6

Tree = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """One box. `x` and `width` are percents of the drawing, `share` of all samples."""

    name: str
    at: str
    x: float
    y: int
    width: float
    value: int
    share: float
    colour: int

    @property
    def is_named(self) -> bool:
        return self.width >= NAMED


@dataclass(frozen=True, slots=True)
class Flame:
    """`above`: the frames around the one that fills the drawing, outermost first."""

    frames: list[Frame]
    above: list[tuple[str, str]]
    height: int
    samples: int
    left_out: int


def draw(tree: Tree, at: str = "") -> Flame:
    """The drawing of what is below the frame at this place; of all where there is none."""
    total = int(tree.get("value") or 0)
    root, way, above = tree, "", []
    for step in filter(None, at.split(".")):
        children = root.get("children") or []
        if not (step.isascii() and step.isdigit()) or int(step) >= len(children):
            break
        above.append((str(root["name"]), way))
        root, way = children[int(step)], f"{way}.{step}" if way else step
    drawing = _Drawing(total or 1)
    drawing.add(root, way, 0.0, 100.0, 0)
    rows = max((frame.y for frame in drawing.frames), default=0) // ROW + 1
    return Flame(drawing.frames, above, rows * ROW, total, drawing.left_out)


class _Drawing:
    def __init__(self, total: int) -> None:
        self.frames: list[Frame] = []
        self.left_out = 0
        self._total = total

    def add(self, tree: Tree, at: str, x: float, width: float, depth: int) -> None:
        if width < NARROWEST or depth >= DEPTH or len(self.frames) >= MOST:
            self.left_out += 1
            return
        value, name = int(tree["value"]), str(tree["name"])
        share = 100 * value / self._total
        box = (round(x, 3), depth * ROW, round(width, 3))
        self.frames.append(Frame(name, at, *box, value, share, _colour(name)))
        for number, child in enumerate(tree.get("children") or []):
            part = width * int(child["value"]) / max(1, value)
            self.add(child, f"{at}.{number}" if at else str(number), x, part, depth + 1)
            x += part


def _colour(name: str) -> int:
    """The same for all frames of a file, so that one's own code stands out."""
    place = name.rpartition("(")[2]
    return sum(place.partition(":")[0].encode()) % _COLOURS
