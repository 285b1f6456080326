"""The readout of the point of a figure closest to the pointer."""

from collections import Counter

import numpy as np
import pytest
from cases import case_text


def test_the_point_next_to_the_pointer_is_told(page):
    """Points have priority over points of lines and over the cells of a map."""
    rng, boxes = np.random.default_rng(13), {"1": [0.1, 0.05, 0.45, 0.8], "2": [0.55, 0.15, 0.95, 0.9]}
    series = []
    for name, axes, count in (("few", 1, 6), ("many", 1, 25), ("cells", 2, 30), ("over", 2, 4)):
        value = "0.5" if name == "cells" else ""
        points = [[*rng.random(2).round(3).tolist(), f"{name} {k}", "1", value] for k in range(count)]
        series.append({"axes": axes, "name": name, "labels": ["x", "y", "z"], "points": points})
    series.append({"axes": 2, "name": "across", "labels": ["x", "y", "z"], "points": [[0.3, None, "across 0", "", ""]]})
    page.locator("figure#made").scroll_into_view_if_needed()
    image = page.locator("figure#made img").bounding_box()
    scale = min(image["width"] / 400, image["height"] / 200)
    size = np.array([400, 200]) * scale
    corner = np.array([image["x"], image["y"]]) + (np.array([image["width"], image["height"]]) - size) / 2
    pointers = corner + rng.uniform(-0.05, 1.05, (150, 2)) * size
    told = page.evaluate(case_text("pointed.js"), [pointers.tolist(), {"boxes": {"tall": boxes}, "series": series}])
    seen = Counter()
    for pointer, shown in zip(pointers, told, strict=True):
        best, expected = 40, None
        for some in series:
            left, top, right, low = corner[[0, 1, 0, 1]] + np.array(boxes[str(some["axes"])]) * size[[0, 1, 0, 1]]
            if not (left - 9 <= pointer[0] <= right + 9 and top - 9 <= pointer[1] <= low + 9):
                continue
            for x, y, text, _, value in some["points"]:
                at = np.array([left + x * (right - left), pointer[1] if y is None else low - y * (low - top)])
                away = np.hypot(*(at - pointer))
                away = 12 + away / 1000 if value else away
                if away < best:
                    best, expected = away, [some["name"], text, *at]
        seen[expected and expected[0]] += 1
        assert (shown is None) == (expected is None)
        assert shown is None or (shown[:2] == expected[:2] and shown[2:] == pytest.approx(expected[2:], abs=0.1))
    assert seen.keys() == {None, "few", "many", "cells", "over", "across"}, seen
