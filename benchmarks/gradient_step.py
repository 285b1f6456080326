"""A gradient-descent step against the two bare products with the data matrix that it cannot do without.

    python benchmarks/gradient_step.py [threads]

One student and two at once (a semantic and a positional start), d = 1000. Prints milliseconds and ratios.
"""

import sys
import time

import numpy as np
import torch

from attention_phases import Task
from attention_phases.model.rank_one import sample
from attention_phases.training.optimizers import gradient_descent

REPEATS, STEPS = 60, 10


def milliseconds(*works):
    """Fastest of many repetitions of each work, in turn, for each of its `STEPS` steps."""
    times = [[] for _ in works]
    for _ in range(REPEATS):
        for work, taken in zip(works, times):
            began = time.perf_counter()
            work()
            taken.append(time.perf_counter() - began)
    return [1e3 * min(taken) / STEPS for taken in times]


def main():
    torch.set_num_threads(int(sys.argv[1]) if len(sys.argv) > 1 else torch.get_num_threads())
    print(f"threads {torch.get_num_threads()}\nalpha  students  products/ms  step/ms  ratio")
    for alpha in (0.5, 1.0, 1.5, 2.0):
        data = sample(Task(), alpha, 1000, np.random.default_rng(0))
        for students in (1, 2):
            rows = data.inputs.reshape(-1, 1000)
            weights = torch.randn(students, 1000)
            field = torch.randn(students, len(rows))

            def products(weights=weights, field=field, rows=rows):
                for _ in range(STEPS):
                    weights @ rows.mT
                    field @ rows

            def steps(weights=weights, data=data):
                gradient_descent(data, 0.01, weights, steps=STEPS)

            bare, step = milliseconds(products, steps)
            print(f"{alpha:5}  {students:8}  {bare:11.3f}  {step:7.3f}  {step / bare:5.2f}")


if __name__ == "__main__":
    main()
