"""Kernels that are forked from a process with the imports of notebooks, which saves seconds per notebook."""

import os
import sys
from importlib.metadata import EntryPoint
from multiprocessing import get_context

from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from pages import MODULES

SERVER = get_context("forkserver")
SERVER.set_forkserver_preload(
    ["ipykernel.kernelapp", "matplotlib_inline.backend_inline", "myst_nb", "scipy.stats", "attention_phases.training"]
    + [f"attention_book.{name}" for name in ("render.style", *MODULES)]
)


def serve(arguments, folder, environment):
    """Run a kernel, which ends with the process that it was forked from; nobody reads its log."""
    from ipykernel.kernelapp import IPKernelApp

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.chdir(folder)
    os.environ |= environment
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


class Kernel(SERVER.Process):
    """A process with the methods of `subprocess.Popen` that jupyter_client calls."""

    stdin = stdout = stderr = None

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()
        return self.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)


class Forked(LocalProvisioner):
    """A provisioner that starts such kernels; the arguments after the program's name are the kernel's own."""

    async def launch_kernel(self, cmd, cwd, env, **_):
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        self.process = Kernel(target=serve, args=(arguments, cwd, env))
        self.process.start()
        self.pid, self.cwd = self.process.pid, cwd
        return self.connection_info


def use():
    """Make jupyter_client fork its kernels, on Linux only, because libraries elsewhere may not survive a fork."""
    if sys.platform == "linux":
        name = "forked"
        factory = KernelProvisionerFactory.instance()
        factory.provisioners[name] = EntryPoint(name, f"{__name__}:{Forked.__name__}", factory.GROUP_NAME)
        factory.default_provisioner_name = name
