"""``dumpsys SERVICE``: the lines tools read, in the wording of Android 14."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from device_tools.virtual.apps.packages import App
from device_tools.virtual.apps.registry import installed
from device_tools.virtual.framework import reports
from device_tools.virtual.framework.reply import out
from device_tools.virtual.ports import CommandResult
from device_tools.virtual.state import DENSITY, HEIGHT, WIDTH, PhoneState, Task
from device_tools.virtual.ui.screen import TouchScreen
from device_tools.virtual.views.view import Window

_WIFI_INFO = (
    'SSID: "AndroidWifi", BSSID: 02:00:00:00:01:00, MAC: 02:00:00:44:55:66, '
    "Supplicant state: COMPLETED, RSSI: -50, Link speed: 866Mbps, Frequency: 5180MHz, Net ID: 0"
)


def dumpsys(screen: TouchScreen, args: Sequence[str]) -> CommandResult:
    """Unknown services are told as Android does, with exit code 0."""
    words = [word for word in args if word not in ("-t", "--proto")]
    if not words or words[0] == "-l":
        names = "\n".join(f"  {name}" for name in sorted(_SERVICES))
        return out(f"Currently running services:\n{names}")
    service = _SERVICES.get(words[0])
    if service is None:
        return out(f"Can't find service: {words[0]}")
    return out(service(screen, words[1:]))


def _id(name: str) -> str:
    return f"{zlib.crc32(name.encode()) & 0xFFFFFFF:x}"


def _window_name(window: Window) -> str:
    return f"Window{{{_id(window.title)} u0 {window.title}}}"


def _record(task: Task) -> str:
    name = task.screens[-1].short_component
    return f"ActivityRecord{{{_id(name)} u0 {name} t{task.id}}}"


def _focus(screen: TouchScreen) -> str:
    lines = [
        f"  mCurrentFocus={_window_name(screen.focused_window())}",
        f"  mFocusedApp={_record(screen.state.tasks[-1])}",
    ]
    return "\n".join(lines)


def _window(screen: TouchScreen, args: Sequence[str]) -> str:
    if args[:1] == ["displays"] or args[:1] == ["d"]:
        return _displays(screen)
    if args[:1] == ["windows"] or args[:1] == ["w"]:
        return _windows(screen)
    awake = str(screen.state.screen_on).lower()
    policy = (
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n"
        f"    mSafeMode=false mSystemReady=true\n    mAwake={awake} mScreenOnEarly={awake}\n"
        "    showing=false\n    mShowingLockscreen=false mShowingDream=false "
        "mDreamingLockscreen=false\n"
    )
    return f"{policy}\n{_displays(screen)}\n\n{_windows(screen)}"


def _displays(screen: TouchScreen) -> str:
    size = f"{WIDTH}x{HEIGHT}"
    return (
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n"
        "  Display: mDisplayId=0 (organized)\n"
        f"    init={size} {DENSITY}dpi cur={size} app={size} rng={WIDTH}x1017-2400x2337\n"
        "    deferred=false mLayoutNeeded=false\n"
        f"    mDisplayRotation=ROTATION_{screen.state.rotation * 90} mRotation="
        f"{screen.state.rotation}\n{_focus(screen)}"
    )


def _windows(screen: TouchScreen) -> str:
    lines = ["WINDOW MANAGER WINDOWS (dumpsys window windows)"]
    for number, window in enumerate(reversed(screen.windows())):
        box = window.root.bounds
        flags = " SECURE" if window.secure else ""
        lines += [
            f"  Window #{number} {_window_name(window)}:",
            f"    mDisplayId=0 mSession=Session{{{_id(window.package)} uid 1000}}",
            f"    mOwnerUid=1000 showForAllUsers=false package={window.package} appop=NONE",
            f"    mAttrs={{(0,0)(fillxfill) ty=BASE_APPLICATION fl=LAYOUT_IN_SCREEN{flags}}}",
            f"    mFrame=[{box.left},{box.top}][{box.right},{box.bottom}]",
            "    isOnScreen=true",
            "    isVisible=true",
        ]
    turn = f"  mRotation={screen.state.rotation} mAltOrientation=false"
    return "\n".join([*lines, _focus(screen), turn])


def _activity(screen: TouchScreen, args: Sequence[str]) -> str:
    state = screen.state
    if args[:1] == ["top"]:
        name = state.screen.short_component
        return (
            f"TASK {state.screen.package} id={state.tasks[-1].id} userId=0\n"
            f"  ACTIVITY {name} {_id(name)} pid={_pid(state.screen.package)}\n"
            "    Local Activity State:\n      mResumed=true mStopped=false mFinished=false"
        )
    lines = [
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)",
        "Display #0 (activities from top to bottom):",
    ]
    for task in reversed(state.tasks):
        lines.append(
            f"  * Task{{{_id(task.package)} #{task.id} type=standard A=1000:"
            f"{task.package} U=0 visible={str(task is state.tasks[-1]).lower()}}}"
        )
        lines += [
            f"    * Hist  #{number}: ActivityRecord{{{_id(each.short_component)} u0 "
            f"{each.short_component} t{task.id}}}"
            for number, each in reversed(list(enumerate(task.screens)))
        ]
    record = _record(state.tasks[-1])
    return "\n".join(
        [
            *lines,
            "",
            f"  mResumedActivity: {record}",
            f"  ResumedActivity: {record}",
            f"  topResumedActivity={record}",
            f"  mFocusedApp={record}",
        ]
    )


def _pid(package: str) -> int:
    return 2000 + zlib.crc32(package.encode()) % 8000


def _battery(screen: TouchScreen, _args: Sequence[str]) -> str:
    state = screen.state
    facts = {
        "AC powered": "false",
        "USB powered": str(state.charging).lower(),
        "Wireless powered": "false",
        "Max charging current": "500000",
        "status": "2" if state.charging else "3",
        "health": "2",
        "present": "true",
        "level": str(state.battery),
        "scale": "100",
        "voltage": "4123",
        "temperature": "280",
        "technology": "Li-ion",
    }
    lines = [f"  {key}: {value}" for key, value in facts.items()]
    return "\n".join(["Current Battery Service state:", *lines])


def _package(screen: TouchScreen, args: Sequence[str]) -> str:
    names = [word for word in args if not word.startswith("-")]
    apps = [app for app in installed(screen.state) if not names or app.package in names]
    if not apps:
        return f"Unable to find package: {names[0]}"
    return "Packages:\n" + "\n".join(_package_record(screen.state, app) for app in apps)


def _package_record(state: PhoneState, app: App) -> str:
    system = "SYSTEM " if app.system else ""
    lines = [
        f"  Package [{app.package}] ({_id(app.package)[:6]}):",
        f"    userId={app.uid}",
        f"    pkg=Package{{{_id(app.package)} {app.package}}}",
        f"    codePath={app.path.rsplit('/', 1)[0]}",
        f"    versionCode={app.version_code} minSdk=24 targetSdk=34",
        f"    versionName={app.version}",
        f"    flags=[ {system}HAS_CODE ALLOW_CLEAR_USER_DATA ]",
        f"    dataDir=/data/user/0/{app.package}",
        "    timeStamp=2026-01-05 10:00:00",
        "    firstInstallTime=2026-01-05 10:00:00",
        "    lastUpdateTime=2026-01-05 10:00:00",
        "    signatures=PackageSignatures{af09595 version:3, signatures:[00c0ffee], past "
        "signatures:[]}",
        f"    pkgFlags=[ {system}HAS_CODE ALLOW_CLEAR_USER_DATA ]",
        "    requested permissions:",
        *(f"      {name}" for name in app.permissions),
        "    User 0: ceDataInode=1155 installed=true hidden=false stopped=false enabled=0",
        "      runtime permissions:",
        *(
            f"        {name}: granted={str((app.package, name) in state.granted).lower()}"
            for name in app.permissions
        ),
    ]
    return "\n".join(lines)


def _power(screen: TouchScreen, _args: Sequence[str]) -> str:
    on = screen.state.screen_on
    wake = "Awake" if on else "Asleep"
    flag = str(on).lower()
    return (
        f"POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mWakefulness={wake}\n"
        f"  mIsPowered={str(screen.state.charging).lower()}\n"
        f"  mHoldingWakeLockSuspendBlocker=false\n  mHoldingDisplaySuspendBlocker={flag}\n"
        f"Display Power: state={'ON' if on else 'OFF'}"
    )


def _display(screen: TouchScreen, _args: Sequence[str]) -> str:
    turn = screen.state.rotation
    return (
        "DISPLAY MANAGER (dumpsys display)\n  mViewports=[DisplayViewport{type=INTERNAL, "
        f"valid=true, isActive=true, displayId=0, uniqueId='local:0', physicalPort=0, "
        f"orientation={turn}, logicalFrame=Rect(0, 0 - {WIDTH}, {HEIGHT}), "
        f"physicalFrame=Rect(0, 0 - {WIDTH}, {HEIGHT}), deviceWidth={WIDTH}, "
        f"deviceHeight={HEIGHT}}}]\n  mScreenState={'ON' if screen.state.screen_on else 'OFF'}"
    )


def _surface_flinger(_screen: TouchScreen, args: Sequence[str]) -> str:
    if "--display-id" in args:
        return 'Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName="Virtual"'
    return ""


def _input_method(screen: TouchScreen, _args: Sequence[str]) -> str:
    shown = str(screen.state.keyboard).lower()
    method = screen.state.settings["secure"].get("default_input_method", "null")
    return (
        f"Current Input Method Manager state:\n  mCurMethodId={method}\n"
        f"  mShowRequested={shown} mInputShown={shown}\n  mInputShown={shown} "
        f"mIsInputViewShown={shown}\n  mCurFocusedWindow={_window_name(screen.focused_window())}"
    )


def _wifi(screen: TouchScreen, _args: Sequence[str]) -> str:
    if not screen.state.wifi:
        return "Wi-Fi is disabled\nStay-awake conditions: 0\nmWifiInfo SSID: <unknown ssid>"
    return (
        f"Wi-Fi is enabled\nStay-awake conditions: 0\nmWifiInfo {_WIFI_INFO}\n"
        "mDhcpResults IP address 10.0.2.16/24 Gateway 10.0.2.2  DNS servers: [ 10.0.2.3 ]"
    )


def wifi_status(state: PhoneState) -> str:
    """``cmd wifi status``."""
    if not state.wifi:
        return "Wifi is disabled\nWifi scanning is only available when wifi is enabled"
    return (
        "Wifi is enabled\nWifi scanning is always available\n"
        "==== Primary ClientModeManager instance ====\n"
        f'Wifi is connected to "AndroidWifi"\nWifiInfo: {_WIFI_INFO}'
    )


def _notification(screen: TouchScreen, args: Sequence[str]) -> str:
    lines = ["Current Notification Manager state:", "  Notification List:"]
    for number, item in enumerate(screen.state.notifications):
        key = f"0|{item.package}|{number}|null|10105"
        lines += [
            f"    NotificationRecord(0x{_id(key):>08}: pkg={item.package} user=UserHandle{{0}} "
            f"id={number} tag=null importance=4 key={key}: Notification(channel=default))",
            f"      opPkg={item.package}",
            f"      key={key}",
            "      notification=",
            f"            when={int(item.when * 1000)}/{int(item.when * 1000)}",
            "            extras={",
            f"                android.title=String {_extra(item.title, args)}",
            f"                android.text=String {_extra(item.text, args)}",
            "            }",
            "      publicNotification=",
            "            None",
        ]
    archive = [
        f"    StatusBarNotification(pkg={package} user=UserHandle{{0}} id=0 tag=null "
        f"key=0|{package}|0|null|10105: Notification(channel=default shortcut=null))"
        for package in reversed(screen.state.dismissed[-5:])
    ]
    lines += [f"  mArchive=Archive ({len(screen.state.dismissed)} notifications)", *archive]
    return "\n".join(lines)


def _extra(text: str, args: Sequence[str]) -> str:
    return f"({text})" if "--noredact" in args else f"[length={len(text)}]"


_SERVICES: dict[str, Callable[[TouchScreen, Sequence[str]], str]] = {
    "SurfaceFlinger": _surface_flinger,
    "activity": _activity,
    "alarm": reports.alarm,
    "battery": _battery,
    "diskstats": reports.diskstats,
    "display": _display,
    "input_method": _input_method,
    "location": reports.location,
    "media_session": reports.media_session,
    "meminfo": reports.meminfo,
    "notification": _notification,
    "package": _package,
    "power": _power,
    "thermalservice": reports.thermal,
    "usagestats": reports.usagestats,
    "wifi": _wifi,
    "window": _window,
}
