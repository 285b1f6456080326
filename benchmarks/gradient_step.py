"""The time of a gradient-descent step, compared with the two products with the data matrix that every step needs.

    python benchmarks/gradient_step.py

The sizes are one student, and two students (a semantic and a positional start), at d = 1000, on one thread. The script
times a step of the library, a step of a user's own loop with autograd, and the part of autograd and the optimizer in
it, with a loss that costs nothing. It prints milliseconds, and the ratios of both steps to the products. The
measurements take turns, and each is the fastest of many.
"""

import time

import numpy as np
import torch

from attention_phases import Task, data_set
from attention_phases.training.optimizers import GD_RATE, gradient_descent

REPEATS, STEPS = 60, 40


class Nothing(torch.autograd.Function):
    """A loss whose value and gradient are known in advance."""

    @staticmethod
    def forward(ctx, weights):
        return weights.new_zeros(len(weights))

    @staticmethod
    def backward(ctx, of_values):
        return of_values[:, None].expand(-1, 1000)


def milliseconds(work):
    """Return the time of each of the `STEPS` steps of `work`."""
    began = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - began) / STEPS


def main():
    torch.set_num_threads(1)
    print("alpha  students  products/ms  step/ms  ratio  own step/ms  ratio  of which autograd and optimizer/ms")
    for alpha in (0.25, 0.5, 1.0, 1.5, 2.0):
        data = data_set(Task(), alpha, 1000)
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

            own = weights.clone().requires_grad_()
            optimizer = torch.optim.SGD([own], GD_RATE)

            def own_steps(risk=data.risk, own=own, optimizer=optimizer):
                for _ in range(STEPS):
                    optimizer.zero_grad()
                    risk(own).sum().backward()
                    optimizer.step()

            works = (products, steps, own_steps, lambda own_steps=own_steps: own_steps(Nothing.apply))
            bare, step, mine, none = np.min([[milliseconds(each) for each in works] for _ in range(REPEATS)], axis=0)
            ratios = f"{step / bare:5.2f}  {mine:11.3f}  {mine / bare:5.2f}  {none:10.3f}"
            print(f"{alpha:5}  {students:8}  {bare:11.3f}  {step:7.3f}  {ratios}", flush=True)


if __name__ == "__main__":
    main()
