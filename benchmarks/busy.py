"""The cost of calls on a quiet machine, and beside another process that uses one core.

    python benchmarks/busy.py [NAME ...]

The calls take turns, and each number is the median of `TURNS`. The script prints seconds on the quiet and on the busy
machine with their ratio, and seconds of processor time, which show the cost of threads that wait for each other. The
last line compares `train` with default settings with `train` in two processes of one thread each. Nothing else may run
on the machine.
"""

import os
import resource
import subprocess
import sys
import time
from statistics import median

from attention_phases.machine import ONE_THREAD

TURNS = 3
STUDENTS = "train(Task(), 1.5, 1000, starts='semantic', "
CALLS = {
    "lbfgs": f"{STUDENTS}seeds=8)",
    "two processes": f"{STUDENTS}seeds=8, workers=2)",
    "one": f"{STUDENTS}seeds=1)",
    "gd": f"{STUDENTS}seeds=8, optimizer='gd')",
    "theory": "solve(Task(), 2.0, 'semantic')",
    "threshold": "threshold(Task(), 'critical')",
}
PROGRAM = "from attention_phases import Task, solve, threshold, train; "


def seconds(call, environment):
    """Return the wall time and the processor time of a call in its own process."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", PROGRAM + call], env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, used


def measured(call, environment):
    """Return the wall times and processor times of each turn, on a quiet and on a busy machine."""
    turns = []
    for _ in range(TURNS):
        quiet = seconds(call, environment)
        other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            turns.append((quiet, seconds(call, environment)))
        finally:
            other.kill()
            other.wait()
    return turns


def main(names):
    free = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    print("call           quiet/s  busy/s  ratio  processor quiet/s  busy/s")
    medians = {}
    for name in names:
        turns = measured(CALLS[name], free | ONE_THREAD if name == "two processes" else free)
        quiet, cpu_quiet, busy, cpu_busy = (median(turn[k][i] for turn in turns) for k in (0, 1) for i in (0, 1))
        medians[name] = quiet
        print(
            f"{name:13}  {quiet:7.2f} {busy:7.2f}  {busy / quiet:5.2f}  {cpu_quiet:17.2f} {cpu_busy:7.2f}", flush=True
        )
    if {"lbfgs", "two processes"} <= medians.keys():
        print(f"lbfgs over two processes, quiet: {medians['lbfgs'] / medians['two processes']:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or CALLS)
