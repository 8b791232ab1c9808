"""The phone's first process: makes the namespaces, the root, and serves the daemon until it goes.

Started as ``python -I -S`` by ``namespaces.launch``. All imports happen before the root changes:
afterwards no file of the host can be opened. The phone ends with this process, and this process
ends with the daemon: by end of file on the control socket, and by the kernel (PDEATHSIG).
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
from dataclasses import replace

from device_tools.virtual.sync_service import serve_sync
from device_tools.virtual.userland import children, control, rootfs, sockets
from device_tools.virtual.userland import syscalls as sys_
from device_tools.virtual.userland.roots import PROFILES
from device_tools.virtual.userland.sources import Sources

NAMESPACES = (
    sys_.CLONE_NEWUSER
    | sys_.CLONE_NEWNS
    | sys_.CLONE_NEWUTS
    | sys_.CLONE_NEWIPC
    | sys_.CLONE_NEWPID
    | sys_.CLONE_NEWNET
    | sys_.CLONE_NEWCGROUP
)
_BACKLOG = 64


def main(descriptor: int) -> None:
    """Runs until the daemon closes its end of ``descriptor``."""
    control_socket = socket.socket(fileno=descriptor)
    control_socket.set_inheritable(False)
    sys_.die_with_parent()
    try:
        sys_.unshare(NAMESPACES)
        control.send(control_socket, {"state": "unshared"})
        plan, _ = control.receive(control_socket)  # its arrival says that the ids are mapped
        if plan is None:
            return
        _become_root(plan["separate_ids"])
        _fork_first_process(control_socket)
        _first_process(control_socket, plan)
    except OSError as error:
        control.send(control_socket, {"state": "failed", "error": str(error)})


def _become_root(separate_ids: bool) -> None:
    if separate_ids:
        os.setgroups([])
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
    sys_.die_with_parent()


def _fork_first_process(control_socket: socket.socket) -> None:
    """Returns in the child only: pid 1 of the namespace. The parent waits for it and ends."""
    pid = os.fork()
    if pid:
        control_socket.close()
        os.waitpid(pid, 0)
        os._exit(0)
    sys_.die_with_parent()


def _first_process(control_socket: socket.socket, plan: control.Message) -> None:
    sources = Sources(
        shell=plan["shell"],
        copies=tuple((source, target) for source, target in plan["copies"]),
        links=tuple((name, program) for name, program in plan["links"]),
    )
    sys_.hide_command_line(b"/init")
    sys_.set_name("init")
    profile = PROFILES[plan["root"]]
    rootfs.build(sources, profile, separate_ids=plan["separate_ids"])
    sys_.shut_off()
    socket.sethostname("localhost")
    sockets.loopback_up()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    with _command_listener() as listener:
        control.send(control_socket, {"state": "ready"}, [listener.fileno()])
    # stderr carried the traceback of a failed start; from here on there is no host terminal
    os.dup2(0, 2)
    powerless = profile is not None and profile.powerless
    user = children.User(plan["separate_ids"], powerless=powerless)
    Init(control_socket, user, may_be_root=profile is not None and profile.adb_root).run()


def _command_listener() -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(rootfs.COMMAND_SOCKET)
    os.chmod(rootfs.COMMAND_SOCKET, 0o666)  # noqa: S103 -- every process of the phone may ask
    listener.listen(_BACKLOG)
    return listener


class Init:
    """Pid 1: one request after the other, each answered at once; reaps whatever ends."""

    def __init__(
        self, control_socket: socket.socket, user: children.User, *, may_be_root: bool
    ) -> None:
        self._control = control_socket
        self._user = user
        self._may_be_root = may_be_root
        self._running: set[int] = set()

    def run(self) -> None:
        """Returns when the daemon is gone; the caller's end ends the namespace."""
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(wake_read, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if self._control.fileno() in ready and not self._serve_one():
                return
            if wake_read in ready:
                os.read(wake_read, 4096)
                self._reap()

    def _serve_one(self) -> bool:
        request, descriptors = control.receive(self._control)
        if request is None:
            return False
        try:
            answer, handed_over = self._answer(request, descriptors)
        except OSError as error:
            text = error.strerror or str(error)
            answer, handed_over = {"errno": error.errno or 5, "error": text}, []
        control.send(self._control, {"answer": request["id"], **answer}, handed_over)
        for fd in [*descriptors, *handed_over]:
            os.close(fd)
        return True

    def _answer(
        self, request: control.Message, descriptors: list[int]
    ) -> tuple[control.Message, list[int]]:
        match request["op"]:
            case "spawn":
                return self._spawn(request, descriptors)
            case "sync":
                self._serve_sync(descriptors[0])
                return {}, []
            case "connect":
                return {}, [sockets.connect(request["spec"]).detach()]
            case "listen":
                return {}, [sockets.listen(request["spec"]).detach()]
            case "identity" if self._may_be_root:
                self._user = replace(self._user, root=request["root"])
                return {}, []
            case "signal":
                return self._signal(request["pid"], request["signal"]), []
        raise OSError(38, "unknown request")

    def _spawn(
        self, request: control.Message, descriptors: list[int]
    ) -> tuple[control.Message, list[int]]:
        if not request["pty"]:
            streams = children.Streams(descriptors[0], descriptors[0], descriptors[-1])
            return {"pid": self._shell(request, streams)}, []
        master, slave = children.open_pty(self._user, raw=request["raw"])
        pid = self._shell(request, children.Streams(slave, slave, slave, controlling=True))
        os.close(slave)
        return {"pid": pid}, [master]

    def _shell(self, request: control.Message, streams: children.Streams) -> int:
        pid = children.spawn_shell(request["command"], request["env"], streams, self._user)
        self._running.add(pid)
        return pid

    def _serve_sync(self, descriptor: int) -> None:
        def body() -> int:
            signal.set_wakeup_fd(-1)
            self._control.close()
            children.become(self._user, unkillable=True)
            sys_.set_name("adbd")
            serve_sync(socket.socket(fileno=os.dup(descriptor)))
            return 0

        children.fork(body)

    def _signal(self, pid: int, number: int) -> control.Message:
        if pid in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)
        return {}

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._running:
                self._running.discard(pid)
                control.send(self._control, {"exited": pid, "code": _code(status)})


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    main(int(sys.argv[1]))
