"""Small system commands: wm, svc, ime, ps, ip, ifconfig, logcat, service, and some of ``cmd``."""

from __future__ import annotations

from collections.abc import Sequence

from device_tools.virtual.apps.settings import set_dark
from device_tools.virtual.defaults import IME
from device_tools.virtual.framework.dumpsys import wifi_status
from device_tools.virtual.framework.reply import fail, out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.state import DENSITY, HEIGHT, WIDTH
from device_tools.virtual.ui.screen import TouchScreen

_RADIOS = {"wifi": "wifi_on", "bluetooth": "bluetooth_on", "data": "mobile_data"}
_KERNEL = (
    ("root", 1, "init"),
    ("root", 2, "[kthreadd]"),
    ("logd", 301, "logd"),
    ("system", 420, "surfaceflinger"),
    ("root", 455, "zygote64"),
    ("shell", 501, "adbd"),
    ("system", 1203, "system_server"),
    ("u0_a102", 1510, "com.android.systemui"),
)


def wm(_screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``size`` and ``density`` are read only in this version."""
    if list(args) == ["size"]:
        return out(f"Physical size: {WIDTH}x{HEIGHT}")
    if list(args) == ["density"]:
        return out(f"Physical density: {DENSITY}")
    if args and args[0] in ("size", "density"):
        return fail("Error: the virtual phone has one fixed size and density", 255)
    return fail(f"Unknown command: {args[0]}" if args else "Window manager (window) commands:")


def svc(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``wifi|bluetooth|data enable|disable``, ``power stayon``."""
    if len(args) == 2 and args[0] in _RADIOS and args[1] in ("enable", "disable"):
        screen.state.set_flag(_RADIOS[args[0]], args[1] == "enable")
        return out()
    if list(args[:2]) == ["power", "stayon"]:
        on = args[2:] != ["false"]
        screen.state.settings["global"]["stay_on_while_plugged_in"] = "7" if on else "0"
        return out()
    return fail("Available commands:\n    help\n    power\n    data\n    wifi\n    bluetooth", 255)


def wifi(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``cmd wifi status|set-wifi-enabled enabled|disabled|list-networks``."""
    if list(args[:1]) == ["status"]:
        return out(wifi_status(screen.state))
    if list(args[:1]) == ["set-wifi-enabled"] and args[1:] and args[1] in ("enabled", "disabled"):
        screen.state.set_flag("wifi_on", args[1] == "enabled")
        return out()
    if list(args[:1]) == ["list-networks"]:
        return out(
            "Network Id      SSID                         Security type\n"
            "0            AndroidWifi                      wpa2-psk"
        )
    return fail("Wi-Fi (wifi) commands:", 255)


def bluetooth(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``cmd bluetooth_manager enable|disable``."""
    if list(args) not in (["enable"], ["disable"]):
        return fail("Bluetooth Manager Commands:", 255)
    screen.state.set_flag("bluetooth_on", args[0] == "enable")
    return out(f"{args[0].capitalize()[:-1]}ing Bluetooth")


def statusbar(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``cmd statusbar expand-notifications|expand-settings|collapse``."""
    wanted = {
        "expand-notifications": "notifications",
        "expand-settings": "quick_settings",
        "collapse": "",
    }
    if len(args) != 1 or args[0] not in wanted:
        return fail("Status bar commands:", 255)
    screen.state.shade = wanted[args[0]]
    return out()


def uimode(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``cmd uimode night [yes|no]``."""
    if list(args[:1]) != ["night"]:
        return fail("UiModeManager service (uimode) commands:", 255)
    if args[1:] and args[1] in ("yes", "no"):
        set_dark(screen.state, args[1] == "yes")
    return out(f"Night mode: {'yes' if screen.state.dark else 'no'}")


def ime(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``ime list [-s] [-a]``, ``ime set|enable ID``."""
    verb, rest = (args[0], list(args[1:])) if args else ("", [])
    if verb == "list":
        text = IME if "-s" in rest else f"{IME}:\n  mId={IME} mSettingsActivityName=null"
        return out(text)
    if verb in ("set", "enable") and rest:
        if rest[-1] != IME:
            return fail(
                f"Unknown input method {rest[-1]} cannot be {verb}ed for user #0".replace(
                    "seted", "selected"
                ),
                1,
            )
        if verb == "enable":
            return out(f"Input method {IME}: already enabled for user #0")
        screen.state.settings["secure"]["default_input_method"] = IME
        return out(f"Input method {IME} selected for user #0")
    if verb == "reset":
        return out("Reset current and enabled IMEs for user #0")
    return fail(f"Unknown command: {verb}" if verb else "ime <command>:", 255)


def ps(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Nine columns; apps with a task are running."""
    rows = list(_KERNEL) if "-A" in args or "-e" in args else []
    rows += [(f"u0_a{task.id + 100}", 3000 + task.id, task.package) for task in screen.state.tasks]
    rows.append(("shell", 9001, "ps"))
    head = "USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME"
    lines = [
        f"{user:<12} {pid:>5} {1 if pid > 2 else 0:>5} {68696:>7} {2864:>6} 0 {0:>19} S {name}"
        for user, pid, name in rows
    ]
    return out("\n".join([head, *lines]))


def ifconfig(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``wlan0`` exists only while Wi-Fi is on."""
    name = args[0] if args else "wlan0"
    if name != "wlan0" or not screen.state.wifi:
        return fail(f"ifconfig: {name}: No such device", 1) if args else out()
    return out(
        "wlan0     Link encap:Ethernet  HWaddr 02:00:00:44:55:66\n"
        "          inet addr:10.0.2.16  Bcast:10.0.2.255  Mask:255.255.255.0\n"
        "          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1"
    )


def ip(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``ip addr [show [dev] wlan0]`` and ``ip route``."""
    if not args or args[0] not in ("addr", "address", "a", "route", "r"):
        return fail("ip: only addr and route are answered here", 1)
    if args[0] in ("route", "r"):
        return out(
            "10.0.2.0/24 dev wlan0 proto kernel scope link src 10.0.2.16"
            if screen.state.wifi
            else ""
        )
    loopback = (
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN\n"
        "    inet 127.0.0.1/8 scope host lo"
    )
    wlan = (
        "2: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n"
        "    link/ether 02:00:00:44:55:66 brd ff:ff:ff:ff:ff:ff\n"
        "    inet 10.0.2.16/24 brd 10.0.2.255 scope global wlan0"
    )
    wanted = args[-1]
    parts = [
        text
        for name, text in (("lo", loopback), ("wlan0", wlan))
        if wanted not in ("lo", "wlan0") or wanted == name
    ]
    if not screen.state.wifi and wlan in parts:
        parts.remove(wlan)
    return out("\n".join(parts))


def logcat(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """A short log; it does not follow, so it ends at once even without ``-d``."""
    if "-c" in args or "--clear" in args:
        return out()
    name = screen.state.screen.short_component
    return out(
        "--------- beginning of main\n"
        "11-30 09:41:00.000  1203  1260 I ActivityTaskManager: Displayed "
        f"{name} for user 0: +121ms"
    )


def service(_screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """``service check NAME``."""
    if len(args) == 2 and args[0] == "check":
        known = args[1] in ("activity", "package", "window", "wifi", "input_method", "settings")
        return out(f"Service {args[1]}: {'found' if known else 'not found'}")
    return fail("Usage: service [-h|-?]\n       service check SERVICE", 10)
