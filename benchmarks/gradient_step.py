"""A gradient-descent step against the two bare products with the data matrix that it cannot do without.

    python benchmarks/gradient_step.py [threads]

One student and two at once (a semantic and a positional start), d = 1000. Prints milliseconds and ratios.
"""

import sys
import time

import numpy as np
import torch

from attention_phases import Task
from attention_phases.model import sample
from attention_phases.training import gradient_descent

REPEATS, STEPS = 7, 50


def milliseconds(work, steps=1):
    """Fastest of several repetitions, for each of `steps` steps."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return 1e3 * min(times) / steps


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else torch.get_num_threads())
    print(f"threads {torch.get_num_threads()}\nalpha  students  products/ms  step/ms  ratio")
    for alpha in (0.5, 1.0, 1.5, 2.0):
        data = sample(Task(), alpha, 1000, np.random.default_rng(0))
        for students in (1, 2):
            weights = torch.randn(students, 1000)
            field = torch.randn(students, len(data.inputs))

            def products(weights=weights, field=field, data=data):
                for _ in range(STEPS):
                    weights @ data.inputs.mT
                    field @ data.inputs

            def steps(weights=weights, data=data):
                gradient_descent(data, 0.01, weights, steps=STEPS)

            bare, step = milliseconds(products, STEPS), milliseconds(steps, STEPS)
            print(f"{alpha:5}  {students:8}  {bare:11.3f}  {step:7.3f}  {step / bare:5.2f}")


if __name__ == "__main__":
    main()
