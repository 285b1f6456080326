"""All words that the scripts write, compared with a record."""

import numpy as np
from built import FRAMES
from cases import case_text

from browser import ANSWER, PLANES, answered, load, made_students, surfaces, view

# Names and words of each element in the order of the page, and positions of words in drawings in hundreds of pixels.
WRITTEN = case_text("written.js")


def test_scripts_write_the_same_words(compare, page):
    """The words of a view come first, then new words after students, balls and descents have returned."""
    load(page, page.url.partition("#")[0])
    view(page, "standard", 0.3, 1.2)
    page.wait_for_function("() => document.querySelector('.explorer-said').textContent.includes('α = 1.20')")
    rng, written = np.random.default_rng(3), page.evaluate(WRITTEN)
    answered(page, "circle", [*made_students(rng, [1.2], 20)])
    point = {"m": 0.3, "theta": 0.2, "loss": 1}
    job = page.evaluate("() => jobs.find(({name}) => name === 'planes').job")
    page.evaluate(PLANES, [*surfaces(rng, len(job["seeds"]))])
    page.locator(".landscape svg").first.press("Enter")
    page.evaluate(ANSWER, [{"k": k, **point} for k in range(len(job["seeds"]))])
    page.evaluate(FRAMES)
    compare("scripts", [*written, "then", *(line for line in page.evaluate(WRITTEN) if line not in written)])
