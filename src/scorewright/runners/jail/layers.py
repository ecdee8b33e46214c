"""The layers of the jail by name: which must be there, and how they are reported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from scorewright.runners.jail.kernel import (
    capabilities,
    landlock,
    namespaces,
    privileges,
    rlimits,
    root,
    seccomp,
)

MANDATORY = frozenset(
    {"single_thread", "no_new_privs", "rlimits", "capabilities", "dumpable", "seccomp"}
)
"""Without one of these a worker refuses to read any source. The others are depth, and are reported."""

PURPOSES = {
    "seccomp": "every system call but the few that computing needs",
    "landlock": "files, TCP and signals, even where another layer let them through",
    "capabilities": "every right beyond an ordinary user's",
    "no_new_privs": "any way to gain rights again",
    "nobody": "root's identity, where it was started as root",
    "rlimits": "memory beyond the limit, processes, files, endless processor time",
    "dumpable": "looks into the worker's memory by others of its user",
    "single_thread": "a second thread that the filter would not bind",
    "user_namespace": "the meaning of every user id of the host",
    "identity_map": "the worker's own id, outside of its namespace",
    "mount_namespace": "the host's mounts",
    "empty_root": "every path: nothing is there but an empty, read-only folder",
    "pid_namespace": "the sight of other processes",
    "net_namespace": "every network device",
    "ipc_namespace": "shared memory and queues of the host",
    "uts_namespace": "the host's name",
    "cgroup_namespace": "the host's cgroup paths",
}
"""Every layer by name, and what it takes away; the strongest first."""

ON = "on"
_OFF = "off: "


class Layers:
    """Applies layers one by one and keeps what became of each.

    Args:
        omitted: Layers to leave out. Only the self-check's negative control does so: it proves that the
            probes can tell a jail from none.
    """

    def __init__(self, omitted: frozenset[str], known: dict[str, str] | None = None) -> None:
        self.omitted = omitted
        self.report: dict[str, str] = dict(known or {})

    def apply(self, name: str, function: Callable[[], int | None]) -> bool:
        """Run one layer's function and note "on", its value, or why it is off."""
        if name in self.omitted:
            self.report[name] = f"{_OFF}omitted"
            return False
        try:
            value = function()
        except (OSError, ValueError) as error:
            self.report[name] = f"{_OFF}{getattr(error, 'strerror', None) or error}"
            return False
        self.report[name] = ON if value is None else str(value)
        return True

    def holds(self, name: str) -> bool:
        """Whether a layer was taken."""
        return is_on(self.report.get(name))


def is_on(state: str | None) -> bool:
    """Whether a layer's report says that it holds."""
    return state is not None and not state.startswith(_OFF)


def enter_zygote_layers(
    layers: Layers,
    *,
    enter_root: Callable[[], None] = root.enter_empty_root,
    root_layer: str = "empty_root",
) -> bool:
    """Take the layers that all workers of a zygote share.

    Args:
        layers: Where what became of each is noted.
        enter_root: Replaces the root; called where there is a mount namespace to do it in.
        root_layer: The name of that layer.

    Returns:
        Whether the next child is the first process of a new process namespace.
    """
    layers.apply("single_thread", _require_one_thread)
    layers.apply("no_new_privs", privileges.set_no_new_privileges)
    if os.getuid() == 0:
        layers.apply("nobody", privileges.become_nobody)
    own_processes = _enter_namespaces(layers)
    if layers.holds("mount_namespace"):
        layers.apply(root_layer, enter_root)
    # From here on the zygote too is closed to other processes of its user.
    layers.apply("dumpable", lambda: privileges.set_dumpable(allowed=False))
    return own_processes


def _enter_namespaces(layers: Layers) -> bool:
    uid, gid = os.getuid(), os.getgid()
    if not layers.apply("user_namespace", lambda: namespaces.unshare("user")):
        return False
    layers.apply("identity_map", lambda: namespaces.map_identity(uid, gid))
    layers.apply("uts_namespace", namespaces.enter_own_host_name)
    for name in ("mount", "ipc", "net", "cgroup"):
        layers.apply(f"{name}_namespace", lambda name=name: namespaces.unshare(name))
    return layers.apply("pid_namespace", lambda: namespaces.unshare("pid"))


def _require_one_thread() -> None:
    """Raise OSError when a module that was loaded has started a thread.

    A thread makes unshare fail and would keep running beside the filter; the namespaces then vanish quietly.
    """
    if sys.platform == "linux" and (count := len(os.listdir("/proc/self/task"))) != 1:
        raise OSError(0, f"{count} threads run where one may")


def enter_worker_layers(
    layers: Layers, *, memory_bytes: int, cpu_s: int, stack_bytes: int = rlimits.STACK_BYTES
) -> None:
    """Take the layers of one worker, the system call filter last: after it, nothing can be set up."""
    layers.apply(
        "rlimits",
        lambda: rlimits.set_limits(memory_bytes=memory_bytes, cpu_s=cpu_s, stack_bytes=stack_bytes),
    )
    layers.apply("capabilities", capabilities.drop_all)
    layers.apply("no_new_privs", privileges.set_no_new_privileges)
    layers.apply("landlock", landlock.restrict_to_nothing)
    layers.apply("dumpable", lambda: privileges.set_dumpable(allowed=False))
    layers.apply("seccomp", lambda: seccomp.load(seccomp.assemble()))


def missing(report: dict[str, str], required: frozenset[str]) -> list[str]:
    """Return the required layers that a report does not show as on, with the reason, sorted."""
    names = sorted(name for name in required if not is_on(report.get(name)))
    return [f"{name} ({report.get(name, 'not reported')})" for name in names]
