"""Which su form of this phone gives real power, and the shell to use with it.

uid 0 alone proves nothing: KernelSU's profiles give uid 0 with reduced capabilities or in the
shell's SELinux domain. So the probe reads the effective capabilities (capability.h numbers) and
does once what everything else needs: a private mount namespace and a chroot.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from alpine.channel import EXIT, STDERR, open_channel
from alpine.errors import RootUnavailable
from alpine.identity import Elevation, Identity, ShellForm
from device_tools.adb import AdbPhone
from device_tools.adb_server import ServiceRefused, list_devices
from device_tools.errors import DeviceError, DeviceTimeout
from device_tools.limits import SHELL_READ, Limit

PROBE = Limit("asking su for root", 6.0)
"""A root manager that waits for a touch on the phone's screen blocks for a minute."""
RESTART = Limit("restarting adbd as root", 20.0)

BUSYBOXES = (
    "/data/adb/magisk/busybox",
    "/data/adb/ksu/bin/busybox",
    "/data/adb/ap/bin/busybox",
    "/data/adb/modules/busybox-ndk/system/xbin/busybox",
    "/data/adb/modules/busybox-ndk/system/bin/busybox",
    "/system/xbin/busybox",
    "/system/bin/busybox",
    "/vendor/bin/busybox",
)
"""Of Magisk, KernelSU, APatch, the busybox-ndk module and the system, in this order."""

NEEDED = {1: "dac_override", 5: "kill", 7: "setuid", 18: "sys_chroot", 21: "sys_admin"}

_PROBE = """\
echo "bridge-uid $(id -u)"
while read -r name value; do
  if [ "$name" = CapEff: ]; then echo "bridge-caps $value"; fi
done </proc/self/status
echo "bridge-context $(id -Z 2>/dev/null)"
box=
for each in "$@"; do
  if [ -x "$each" ] && "$each" true 2>/dev/null; then box=$each; break; fi
done
echo "bridge-busybox $box"
if [ -n "$box" ]; then
  "$box" unshare -m --propagation private "$box" chroot / "$box" true
else
  unshare -m sh -c 'mount -o rprivate none / && chroot / true'
fi </dev/null >/dev/null
echo "bridge-chroot $?"
"""


class Refusal(StrEnum):
    """Why there is no root."""

    NONE = "no su"
    DENIED = "denied"
    SLOW = "slow"
    POWERLESS = "uid 0 without power"


@dataclass(frozen=True)
class Root:
    """A shell with real power. ``busybox`` "" where none was found; ``context`` is SELinux's."""

    form: ShellForm
    capabilities: int
    context: str
    busybox: str


def find_root(phone: AdbPhone, *, allow_adb_root: bool = False) -> Root:
    """Try adbd itself, ``su -c`` (Magisk, KernelSU, APatch) and ``su 0`` (AOSP).

    ``allow_adb_root``: an emulator's adbd is restarted as root first, which cuts every
    connection to it once.

    Raises:
        RootUnavailable: ``reason`` tells which of the refusals of ``Refusal``.
        DeviceError, Cancelled
    """
    if allow_adb_root:
        _restart_as_root(phone)
    worst = Refusal.NONE, "this phone has no su"
    for elevation in Elevation:
        form = ShellForm(Identity.ROOT, elevation)
        found = _probe(phone, form)
        if isinstance(found, Root):
            return found
        if found[0] in (Refusal.SLOW, Refusal.POWERLESS):
            raise _unavailable(*found)
        if found[0] is Refusal.DENIED and worst[0] is Refusal.NONE:
            worst = found
    raise _unavailable(*worst)


def _probe(phone: AdbPhone, form: ShellForm) -> Root | tuple[Refusal, str]:
    try:
        code, out, errors = _answer(phone, form)
    except DeviceTimeout:
        return Refusal.SLOW, f"su gave no answer within {PROBE.seconds:g} s"
    facts = dict(
        line.removeprefix("bridge-").split(" ", 1)
        for line in out.splitlines()
        if line.startswith("bridge-") and " " in line
    )
    if facts.get("uid") != "0":
        return _not_root(form, code, errors)
    capabilities = int(facts.get("caps", "0") or "0", 16)
    context = facts.get("context", "").strip()
    lacks = [name for bit, name in NEEDED.items() if not capabilities >> bit & 1]
    if lacks or facts.get("chroot") != "0":
        missing = f"it lacks {', '.join(lacks)}" if lacks else "unshare and chroot fail"
        where = f" in the SELinux context {context}" if context else ""
        return Refusal.POWERLESS, f"su gives uid 0 without power{where}: {missing}"
    busybox = facts.get("busybox", "").strip()
    return Root(_shell(form, busybox), capabilities, context, busybox)


def _shell(form: ShellForm, busybox: str) -> ShellForm:
    """BusyBox's ash with its own applets, where there is one."""
    if not busybox:
        return form
    return ShellForm(form.identity, form.elevation, (busybox, "sh"), ("ASH_STANDALONE=1",))


def _answer(phone: AdbPhone, form: ShellForm) -> tuple[int, str, str]:
    out, errors = bytearray(), bytearray()
    with open_channel(phone, form.script(_PROBE, *BUSYBOXES)) as channel:
        end = time.monotonic() + PROBE.seconds
        while (packet := channel.read(end, PROBE)).kind != EXIT:
            kept = errors if packet.kind == STDERR else out
            kept += packet.data[: max(0, 65536 - len(kept))]
    return packet.data[0], out.decode("utf-8", "replace"), errors.decode("utf-8", "replace")


def _not_root(form: ShellForm, code: int, errors: str) -> tuple[Refusal, str]:
    """No root in this form: either there is no such su, or it said no."""
    absent = code in (126, 127) or "not found" in errors or "inaccessible" in errors
    invalid = "invalid uid/gid" in errors or "Unknown id" in errors
    if form.elevation is Elevation.NONE or absent or invalid:
        return Refusal.NONE, "this phone has no su that adb can call"
    said = next((line.strip() for line in errors.splitlines() if line.strip()), f"code {code}")
    return Refusal.DENIED, f"su refused: {said[:200]}"


_ADVICE = {
    Refusal.NONE: "use identity user; root needs a rooted phone or an emulator with adb root",
    Refusal.DENIED: "allow the shell (com.android.shell) in the root manager on the phone",
    Refusal.SLOW: "answer the root manager's question on the phone's screen, then try again",
    Refusal.POWERLESS: "give the shell all capabilities and the su context in the root manager",
}


def _unavailable(reason: Refusal, message: str) -> RootUnavailable:
    return RootUnavailable(message, advice=_ADVICE[reason], reason=reason.value)


def _restart_as_root(phone: AdbPhone) -> None:
    """``adb root`` where the phone is an emulator and its adbd is no root yet."""
    script = "id -u; getprop ro.kernel.qemu; getprop ro.boot.qemu"
    uid, *emulator = phone.shell(["sh", "-c", script]).text.split("\n")
    if uid.strip() == "0" or "1" not in [line.strip() for line in emulator]:
        return
    try:
        with phone.service("root:", SHELL_READ) as stream:
            answer = stream.read(4096)
    except ServiceRefused:
        return
    if b"restarting" not in answer:
        return
    end = time.monotonic() + RESTART.seconds
    while not _is_back_as_root(phone):
        if time.monotonic() > end:
            raise DeviceTimeout(f"{RESTART.name} took longer than {RESTART.seconds:g} s")
        phone.cancel.wait(0.3)


def _is_back_as_root(phone: AdbPhone) -> bool:
    try:
        states = {each.serial: each.state for each in list_devices(phone.address, phone.cancel)}
        return states.get(phone.serial) == "device" and (
            phone.shell(["sh", "-c", "id -u"]).text.strip() == "0"
        )
    except DeviceError:
        return False
