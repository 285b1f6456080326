"""The time of the published descent in plain PyTorch, compared with this library's optimizers, on CPU and GPU.

    python benchmarks/devices.py [--d 1000 4000] [--alpha 1.5] [--steps 5000] [--students 2]

All methods start at the teacher of the same data set; with two students, the second one starts at the positional start.
Each method has run for one step before it is timed. "plain" is the published rule as users of PyTorch write it: SGD
with the loss by autograd on all sentences. It also runs compiled by `torch.compile`, and on a GPU in a CUDA graph. The
seconds are for all students together. The ratio compares with L-BFGS of this library on the same device. The last
column is the final training loss of the first student.
"""

import argparse
import time
from functools import partial

import torch

from attention_phases import Task, data_set, fit
from attention_phases.training.optimizers import GD_RATE, GD_STEPS


def loss_of(data, weights):
    """Return R of the students (k, d), for autograd."""
    h = data.sentences @ weights.mT / data.d**0.5  # shape (n, 2, k)
    scores = h[:, :, None] * h[:, None]  # shape (n, 2, 2, k)
    answers = torch.einsum("nabk,nbd->knad", torch.softmax(scores, 2), data.sentences)
    squares = (data.labels - answers).square().sum() / (2 * data.d)
    return squares + data.task.lam / 2 * weights.square().sum()


def plain(data, starts, steps, loss_of=loss_of):
    """Return the weights after `steps` steps of the published rule."""
    weights = starts.clone().requires_grad_()
    optimizer = torch.optim.SGD([weights], GD_RATE)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(data, weights).backward()
        optimizer.step()
    return weights.detach()


def in_a_graph(data, starts, steps):
    """Return the weights after the same steps, of which one is recorded as a CUDA graph and then repeated."""
    weights = starts.clone().requires_grad_()
    before = weights.detach().clone()

    def step():
        (slope,) = torch.autograd.grad(loss_of(data, weights), weights)
        with torch.no_grad():
            weights.sub_(slope, alpha=GD_RATE)

    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):  # PyTorch requires this warm-up before a graph is recorded
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    with torch.no_grad():
        weights.copy_(before)
    for _ in range(steps):
        graph.replay()
    return weights.detach()


def by_fit(data, starts, **options):
    """Return the weights of `fit`."""
    return torch.stack([student.weights for student in fit(data, data.task.lam, starts, **options)])


def seconds(run, device):
    """Return the time of `run` and its result."""
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    result = run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began, result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--d", type=int, nargs="+", default=[1000])
    parser.add_argument("--alpha", type=float, default=1.5)
    parser.add_argument("--steps", type=int, default=GD_STEPS)
    parser.add_argument("--students", type=int, choices=(1, 2), default=2)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    gpu = torch.cuda.is_available()
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name() if gpu else 'no GPU'}; one thread of the CPU")
    print(f"alpha = {asked.alpha:g}, {asked.steps} steps of gradient descent, {asked.students} student(s)")
    print("     d  device  way                   seconds   ratio  train_loss")
    for d in asked.d:
        drawn = data_set(Task(), asked.alpha, d)
        for device in ("cpu", "cuda")[: 1 + gpu]:
            data = drawn.to(device)
            starts = torch.stack([data.teacher, torch.full_like(data.teacher, d**-0.5)])[: asked.students]
            ways = {
                "L-BFGS": lambda data, starts, steps: by_fit(data, starts),
                "gradient descent": lambda data, starts, steps: by_fit(data, starts, optimizer="gd", steps=steps),
                "plain": plain,
                "plain, compiled": partial(plain, loss_of=torch.compile(loss_of)),
                **({"plain, in a graph": in_a_graph} if device == "cuda" else {}),
            }
            first = None
            for name, way in ways.items():
                way(data, starts, 1)
                taken, weights = seconds(partial(way, data, starts, asked.steps), device)
                first = first or taken
                loss = data.risk(weights[0]).item() / d
                print(f"{d:6}  {device:6}  {name:20} {taken:8.3f} {taken / first:7.1f}  {loss:.7f}", flush=True)


if __name__ == "__main__":
    main()
