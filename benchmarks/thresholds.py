"""The time of alpha_c(omega) with a standard error of at most 0.002, at the nine published omega.

Usage: python benchmarks/thresholds.py. Each search starts from the crossing at the previous omega. The same searches
without such a start are timed in turn for comparison.
"""

import time

from attention_book.published import CRITICAL_ALPHA
from attention_phases import Task
from attention_phases.theory import threshold
from attention_phases.theory.thresholds import NO_THRESHOLD


def timed(*arguments, **options):
    """Return a threshold and the seconds that it took."""
    start = time.perf_counter()
    place = threshold(*arguments, **options)
    return place, time.perf_counter() - start


if __name__ == "__main__":
    timed(Task(), "critical", points=2**7)  # compiles the code
    near, seconds = NO_THRESHOLD, [0.0, 0.0]
    for omega in sorted(CRITICAL_ALPHA):
        near, followed = timed(Task(omega=omega), "critical", near=near)
        alone, searched = timed(Task(omega=omega), "critical")
        seconds = [seconds[0] + followed, seconds[1] + searched]
        print(f"omega {omega:<5}: alpha_c {near.alpha.text} in {followed:5.1f} s,", end=" ")
        print(f"from nothing {alone.alpha.text} in {searched:5.1f} s", flush=True)
    print(f"together {seconds[0]:.0f} s, from nothing {seconds[1]:.0f} s: ratio {seconds[1] / seconds[0]:.2f}")
