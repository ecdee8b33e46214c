"""What is tried with every permission of Deno, to prove that the kernel's layers hold by themselves.

Deno without permissions would refuse most of this before the kernel is asked. So `scorewright runner check` has it done in
a process that has them all, behind the very layers that evaluators are behind. That process runs none but these texts:
the host asks for one by its name, and there is no way to ask it for another text.

An attempt is the body of an asynchronous function, which has `libc` at hand (`attempt.mjs`). It is refused when it
throws; what it returns instead is its loot. Standard library alone: the launcher of every run loads this.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scorewright.runners.deno.layers import PROFILE
from scorewright.runners.jail.kernel.namespaces import HOST_NAME
from scorewright.runners.jail.kernel.seccomp import UNFILTERED
from scorewright.runners.jail.kernel.syscalls import is_known, number

#: What `Request.program` begins with that asks for an attempt.
PREFIX: Final = "attempt: "
_LOCAL: Final = 'hostname: "127.0.0.1", port: 1'
_WRITTEN: Final = "/scorewright-probe"
_UNIX, _INTERNET, _STREAM = 1, 2, 1
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _SET_OWNER, _SET_GROUP, _LIST_DEVICES = (
    8,
    10,
    15,
    0x8901,
    0x8902,
    0x8912,
)
_RLIMIT_DATA: Final = 2
#: Harmless, should it arrive.
_SIGCONT: Final = 18
_NEW_USER_AND_THREAD: Final = 0x1000_0000 | 0x1_0000
_X32_FLAG: Final = 0x4000_0000
#: Calls that the filter decides on by their arguments.
_DECIDED_BY_ARGUMENTS: Final = ("clone", "clone3", "fcntl", "ioctl", "prlimit64", "tgkill")


def _call(name: str, *arguments: object) -> str:
    """Make a system call, whose refusal is thrown."""
    return f"return libc.call({', '.join(map(str, (number(name), *arguments)))})"


def _node(module: str, steps: str) -> str:
    return f'const m = await import("node:{module}");\n{steps}'


def _spawned(module: str, call: str) -> str:
    return _node(
        module, f'return await new Promise((ok, no) => m.{call}.on("error", no).on("spawn", ok))'
    )


def _opened(expression: str) -> str:
    """Wait for an object with `onopen` and `onerror`."""
    return (
        f"const o = {expression};\n"
        'return await new Promise((ok, no) => { o.onopen = ok; o.onerror = () => no(new Error("closed")); })'
    )


FILES: Final = {
    "open a file": 'return Deno.readTextFileSync("/etc/passwd").slice(0, 20)',
    "open a file, later": 'return (await Deno.readTextFile("/etc/shadow")).slice(0, 20)',
    "list the root": 'return [...Deno.readDirSync("/")].map((e) => e.name).join()',
    "list a folder": 'return [...Deno.readDirSync("/etc")].length',
    "write a file": f'Deno.writeTextFileSync("{_WRITTEN}", "x"); Deno.removeSync("{_WRITTEN}"); return "written"',
    "write the harness": 'return Deno.openSync("/worker.mjs", {append: true, write: true})',
    "write the binary": 'return Deno.openSync("/deno", {write: true})',
    "shorten the harness": 'Deno.truncateSync("/worker.mjs", 0); return "shortened"',
    "make a folder": f'Deno.mkdirSync("{_WRITTEN}"); return "made"',
    "make a link": f'Deno.symlinkSync("/", "{_WRITTEN}"); return "made"',
    "make a hard link": f'Deno.linkSync("/worker.mjs", "{_WRITTEN}"); return "made"',
    "rename the harness": f'Deno.renameSync("/worker.mjs", "{_WRITTEN}"); return "renamed"',
    "remove the harness": 'Deno.removeSync("/worker.mjs"); return "removed"',
    "change rights of a file": 'Deno.chmodSync("/deno", 0o777); return "changed"',
    "change the owner of a file": 'Deno.chownSync("/deno", 0, 0); return "changed"',
    "temporary file": 'return Deno.makeTempFileSync({dir: "/tmp"})',
    "file by node:fs": _node("fs", 'return m.readFileSync("/etc/passwd", "utf8").slice(0, 20)'),
    "own memory by /proc": 'return Deno.openSync("/proc/self/mem", {read: true, write: true})',
    "own mappings by /proc": 'return Deno.readTextFileSync("/proc/self/maps").slice(0, 20)',
    "own environment by /proc": 'return Deno.readTextFileSync("/proc/self/environ").slice(0, 20)',
    "memory of process 1": 'return Deno.openSync("/proc/1/mem")',
    "file by the C library": _call("openat", -100, '"/etc/passwd"', 0),
    "database file": _node(
        "sqlite", f'return new m.DatabaseSync("{_WRITTEN}").exec("create table t(a)")'
    ),
    "change folder": 'return Deno.chdir("/")',
    "memory file": f'return libc.call({319 if is_known("stat") else 279}, "x", 0)',
}
"""Files, by Deno's functions and by the C library."""

SEEN: Final = {
    "stat a file": 'return Deno.statSync("/etc/passwd").size',
    "existence of a file": 'return Deno.lstatSync("/etc/shadow").size',
}
"""Files again: Landlock has no word for these, so that an own root it must be."""

PROCESSES: Final = {
    "spawn": 'return new Deno.Command("/deno", {args: ["-V"]}).outputSync().code',
    "spawn, without waiting": 'return new Deno.Command("/deno", {args: ["-V"]}).spawn().pid',
    "spawn by node:child_process": _spawned("child_process", 'spawn("/deno", ["-V"])'),
    "signal process 1": 'Deno.kill(1, "SIGCONT"); return "sent"',
    "signal its parent": 'Deno.kill(Deno.ppid, "SIGCONT"); return "sent"',
    "kill itself": 'Deno.kill(Deno.pid, "SIGTERM"); return "sent"',
    "signal everybody": "return libc.kill(-1, 0)",
    "signal its group": "return libc.kill(0, 0)",
    "signal to another process's thread": _call("tgkill", 1, 1, _SIGCONT),
    "signals to others by a socket": _call("fcntl", 0, _F_SETOWN, 1),
    "signals to others by a socket, extended": _call(
        "fcntl", 0, _F_SETOWN_EX, '"\\0\\0\\0\\0\\1\\0\\0\\0"'
    ),
    "another signal by a socket": _call("fcntl", 0, _F_SETSIG, 9),
    "signals to others by ioctl": _call("ioctl", 0, _SET_OWNER, '"\\1\\0\\0\\0"'),
    "signals to a group by ioctl": _call("ioctl", 0, _SET_GROUP, '"\\1\\0\\0\\0"'),
    "fork by the C library": "return libc.fork()",
    "shell by the C library": 'return libc.system("true")',
    "process by clone": _call("clone", 17, 0, 0, 0, 0),
    "process by clone3": _call("clone3", 0, 88),
    "thread in a user namespace": _call("clone", _NEW_USER_AND_THREAD, 0, 0, 0, 0),
    "execute a shell": _call("execve", '"/bin/sh"', 0, 0),
    "more memory than allowed": _call("prlimit64", 0, _RLIMIT_DATA, '"\\xff".repeat(16)', 0),
    "limits of process 1": _call("prlimit64", 1, _RLIMIT_DATA, 0, '"\\0".repeat(16)'),
    "another user": "return libc.setuid(0)",
    "user by node:process": _node("process", 'm.setuid(0); return "root"'),
}
"""Other processes, and more rights for this one."""

NETWORK: Final = {
    "TCP connection": f"return await Deno.connect({{{_LOCAL}}})",
    "TCP listener": "return Deno.listen({port: 0})",
    "unix socket": 'return await Deno.connect({transport: "unix", path: "/run/x"})',
    "unix listener": f'return Deno.listen({{transport: "unix", path: "{_WRITTEN}"}})',
    "TLS connection": f"return await Deno.connectTls({{{_LOCAL}}})",
    "name lookup": 'return await Deno.resolveDns("localhost", "A")',
    "web request": 'return (await fetch("http://127.0.0.1:54321/")).status',
    "web socket": _opened('new WebSocket("ws://127.0.0.1:54321/")'),
    "web server": 'return Deno.serve({port: 0, onListen() {}}, () => new Response("x")).addr.port',
    "network devices by a socket": _call("ioctl", 0, _LIST_DEVICES, '"\\0".repeat(16)'),
    "network devices": "return Deno.networkInterfaces().length",
    "socket by node:net": _node(
        "net",
        'return await new Promise((ok, no) => m.connect(1, "127.0.0.1").on("error", no).on("connect", ok))',
    ),
    "UDP socket": _node(
        "dgram",
        'return await new Promise((ok, no) => m.createSocket("udp4").on("error", no).bind(0, () => ok("bound")))',
    ),
    "name lookup by node:dns": _node("dns", 'return await m.promises.resolve("localhost")'),
    "socket by the C library": f"return libc.socket({_INTERNET}, {_STREAM}, 0)",
    "unix socket by the C library": f"return libc.socket({_UNIX}, {_STREAM}, 0)",
    "packets by the C library": "return libc.socket(17, 3, 0)",
    "kernel socket by the C library": "return libc.socket(16, 3, 0)",
}
"""Anybody to talk to."""

SECRETS: Final = {
    "environment": (
        "const own = ['HOME', 'DENO_DIR', 'DENO_NO_UPDATE_CHECK', 'NO_COLOR', 'TZ', 'LANG'];\n"
        "const others = Object.keys(Deno.env.toObject()).filter((name) => !own.includes(name));\n"
        'if (!others.length) throw new Error("nothing but its own");\nreturn others.join()'
    ),
}
"""What the host has, and this process should not."""

NAMED: Final = {
    "host name": (
        f'if (Deno.hostname() === "{HOST_NAME.decode()}") throw new Error("a name of its own");\n'
        "return Deno.hostname()"
    ),
}
"""What a namespace of its own takes away."""

ENDED: Final = {
    "memory of a second thread": (
        'const code = "const a = []; for (;;) a.push(new Uint8Array(1 << 24).fill(1))";\n'
        "const made = new Worker(URL.createObjectURL(new Blob([code])), {type: 'module'});\n"
        "return await new Promise((ok, no) => { made.onmessage = ok; made.onerror = no; })"
    ),
    "memory by the C library": (
        "let n = 0;\nwhile (libc.take(1 << 26)) if (++n === 64) return `${n << 6} MiB`;\n"
        'throw new Error("no more")'
    ),
    "Deno once more": f"return libc.execute({number('execve')})",
}
"""What uses up only itself: an end of the process is as good as a refusal."""


def _sweep() -> str:
    """Call every number that is to be refused; give up at once where the first one is not."""
    named = (*PROFILE.allowed, *PROFILE.killing, *_DECIDED_BY_ARGUMENTS)
    answered = {number(name) for name in named if is_known(name)} | set(UNFILTERED)
    numbers = [each for each in range(512) if each not in answered]
    return f"return libc.firstNotRefused({numbers})"


SYSTEM_CALLS: Final = {
    "every other system call": _sweep(),
    "copy of its own memory": _call("process_vm_readv", -1, 0, 0, 0, 0, 0),
}
"""By their numbers, as many as the filter answers with an error."""


def _deadly(names: Iterable[str]) -> dict[str, str]:
    return {name: _call(name, *[0] * 6) for name in names}


def _of_another_machine() -> dict[str, str]:
    """Calls by the numbers of the second interface that x86-64 kernels have."""
    if not is_known("stat"):
        return {}
    return {
        "getpid by the x32 interface": f"return libc.call({_X32_FLAG | number('getpid')})",
        "execve by the x32 interface": f"return libc.call({_X32_FLAG | 520})",
    }


KILLED: Final = {**_deadly(PROFILE.killing), **_of_another_machine()}
"""What the filter ends the process for."""

GIVEN: Final = {
    "every permission is given": (
        'const asked = ["read", "write", "net", "env", "run", "ffi", "sys", "import"];\n'
        "const states = asked.map((name) => Deno.permissions.querySync({name}).state);\n"
        'if (states.every((state) => state === "granted") && libc.call('
        f'{number("getpid")}) > 0n) throw new Error("so it is the kernel that refuses");\n'
        "return states.join()"
    ),
}
"""Not an attempt, but what makes the others count: fails where Deno itself stood in the way."""

ATTEMPTS: Final = {
    **FILES,
    **SEEN,
    **PROCESSES,
    **NETWORK,
    **SECRETS,
    **NAMED,
    **ENDED,
    **SYSTEM_CALLS,
    **KILLED,
    **GIVEN,
}
"""All of them, by name."""
