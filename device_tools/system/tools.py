"""The table from tool name to what does it on plain adb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from device_tools.adb import AdbPhone
from device_tools.result import ToolResult
from device_tools.system import (
    clock,
    environment,
    files,
    logcat,
    media,
    network,
    notifications,
    packages,
    search,
    settings,
    sms,
    status,
    usage,
)

Handler = Callable[[Mapping[str, Any]], ToolResult]
_ON_PHONE = (
    status.device_status, status.top_memory_apps, status.top_storage_apps,
    network.network_info, network.wifi_credentials,
    media.media_control, media.set_volume,
    clock.set_alarm, clock.set_timer, clock.list_alarms,
    settings.get_setting, settings.set_setting, settings.set_device_state,
    notifications.recent_notifications, notifications.notification_history,
    usage.recent_app_activity, usage.app_usage_summary,
    environment.get_current_location, environment.get_device_environment,
    sms.read_sms_code, logcat.get_logcat,
    search.search_media, search.search_audio, search.search_recordings, search.search_files,
    search.search_downloads, search.search_calendar, search.search_contacts,
    search.search_call_history, search.search_messages,
    packages.app_state_control, packages.uninstall_app,
)  # fmt: skip
_WITH_FOLDER = (packages.install_app, files.send_file_to_phone, files.get_file_from_phone)


def bind(phone: AdbPhone, exchange: Path | None) -> dict[str, Handler]:
    """Every tool of ``system.catalog`` on this phone. ``exchange`` is the one folder of this
    computer that files are copied from and to; None refuses that."""
    table: dict[str, Handler] = {each.__name__: partial(each, phone) for each in _ON_PHONE}
    return table | {each.__name__: partial(each, phone, exchange) for each in _WITH_FOLDER}
