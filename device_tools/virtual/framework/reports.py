"""What ``dumpsys`` tells of memory, storage, use, alarms, position, heat and sound."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from device_tools.virtual.apps.registry import installed
from device_tools.virtual.ui.screen import TouchScreen

_CLOCK = "com.android.deskclock"


def _pid(place: int) -> int:
    return 2000 + place * 17


def meminfo(screen: TouchScreen, _args: Sequence[str]) -> str:
    tasks = {task.package for task in screen.state.tasks}
    rows = [
        f"    {292_432:,}K: system (pid 1203)",
        f"    {180_224:,}K: com.android.systemui (pid 1510)",
    ]
    for place, package in enumerate(sorted(tasks)):
        rows.append(f"    {140_288 - place * 9_000:,}K: {package} (pid {_pid(place)} / activities)")
    return "\n".join(
        [
            "Applications Memory Usage (in Kilobytes):",
            "Uptime: 415039 Realtime: 415039",
            "",
            "Total RSS by process:",
            *rows,
            "",
            "Total RSS by OOM adjustment:",
            "    700,000K: Native",
            "",
            "Total RAM: 8,000,000K (status normal)",
        ]
    )


def diskstats(screen: TouchScreen, _args: Sequence[str]) -> str:
    names = [app.package for app in installed(screen.state)]
    sizes = [12_582_912 + 1_048_576 * place for place in range(len(names))]
    data = [1_048_576 + 524_288 * (place % 4) for place in range(len(names))]
    return "\n".join(
        [
            "Latency: 0ms [512B Data Write]",
            "Data-Free: 41943040K / 112000000K total = 37% free",
            "App Size: 34883465",
            f"Package Names: {json.dumps(names, separators=(',', ':'))}",
            f"App Sizes: {json.dumps(sizes, separators=(',', ':'))}",
            f"App Data Sizes: {json.dumps(data, separators=(',', ':'))}",
            f"Cache Sizes: {json.dumps([16_384] * len(names), separators=(',', ':'))}",
        ]
    )


def usagestats(screen: TouchScreen, _args: Sequence[str]) -> str:
    """Apps with a task were opened one minute after the other."""
    state = screen.state
    events, used = [], []
    for place, task in enumerate(state.tasks):
        stamp = _stamp(state.started + 60 * place)
        name = task.screens[-1].component.split("/")[1]
        events.append(
            f'      time="{stamp}" type=ACTIVITY_RESUMED package={task.package} class={name} '
            "instanceId=1 flags=0x0"
        )
        used.append(
            f'      package={task.package} totalTimeUsed="{place + 1:02}:30" '
            f'lastTimeUsed="{stamp}" totalTimeVisible="{place + 1:02}:31" '
            f'lastTimeVisible="{stamp}" appLaunchCount=1'
        )
    sections = [
        f'  In-memory {period} stats\n    timeRange="11/30/2026, 00:00 – 11/30/2026, 10:00"\n'
        "    packages\n" + "\n".join(used)
        for period in ("daily", "weekly", "monthly", "yearly")
    ]
    head = 'user=0\n  Last 24 hour events (timeRange="11/29/2026, 10:00 – 11/30/2026, 10:00" )'
    return "\n".join([head, *events, *sections])


def _stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


def alarm(screen: TouchScreen, _args: Sequence[str]) -> str:
    """Alarms ring in the clock app."""
    alarms = sorted(screen.state.alarms)
    lines = ["Current Alarm Manager state:", f"  {len(alarms)} pending alarms:"]
    for place, when in enumerate(alarms):
        lines += [
            f"    RTC_WAKEUP #{place}: Alarm{{8ab21b{place} type 0 origWhen {when * 1000} "
            f"whenElapsed 12345 {_CLOCK}}}",
            f"      tag=*walarm*:{_CLOCK}/.AlarmReceiver",
            f"      type=RTC_WAKEUP origWhen={_stamp(when)}.000 window=0 repeatInterval=0 count=0",
            "      Alarm clock:",
            f"        triggerTime={_stamp(when)}.000",
            "        showIntent=PendingIntent{5c7ee2b: PendingIntentRecord{1d2f startActivity}}",
        ]
    lines.append("  Next alarm clock information: ")
    if alarms:
        lines.append(f"    user:0 pendingSend:false time:{alarms[0] * 1000} = {_stamp(alarms[0])}")
    return "\n".join(lines)


def location(screen: TouchScreen, _args: Sequence[str]) -> str:
    on = screen.state.settings["secure"].get("location_mode") != "0"
    fix = "Location[fused 52.520008,13.404954 hAcc=12.0 et=+1m40s120ms alt=34.0 vAcc=2.0]"
    return "\n".join(
        [
            "Location Manager State:",
            f"  Location Setting: {str(on).lower()}",
            "  Location Providers:",
            "    fused provider:",
            f"      last location={fix if on else 'null'}",
            f"      enabled={str(on).lower()}",
        ]
    )


def thermal(_screen: TouchScreen, _args: Sequence[str]) -> str:
    return (
        "IsStatusOverride: false\nThermal Status: 0\nCurrent temperatures from HAL:\n"
        "\tTemperature{mValue=33.1, mType=3, mName=SKIN, mStatus=0}\n"
        "\tTemperature{mValue=29.4, mType=2, mName=BATTERY, mStatus=0}"
    )


def media_session(screen: TouchScreen, _args: Sequence[str]) -> str:
    """One player, which the media keys start and stop."""
    name, number = ("PLAYING", 3) if screen.state.playing else ("PAUSED", 2)
    return (
        "MEDIA SESSION SERVICE (dumpsys media_session)\n\n3 sessions listeners.\n"
        "User Records:\nRecord for full_user=0\n  Sessions Stack - have 1 sessions:\n"
        "    BrowserMedia com.android.browser/BrowserMedia/7 (userId=0)\n"
        "      ownerPid=3107, ownerUid=10107, userId=0\n      package=com.android.browser\n"
        "      active=true\n"
        f"      state=PlaybackState {{state={name}({number}), position=1000, speed=1.0}}\n"
        "      metadata: size=3, description=Morning song, A Singer, An Album"
    )
