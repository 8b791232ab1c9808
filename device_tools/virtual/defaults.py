"""The contents of a new virtual phone: settings, system properties, messages, contacts."""

from __future__ import annotations

import time

from device_tools.virtual.records import Contact, Message, Notification, Thread

RELEASE, SDK = "14", 34
IME = "com.android.inputmethod.latin/.LatinIME"
MESSAGES = "com.android.messaging"


def default_settings() -> dict[str, dict[str, str]]:
    """The three tables of ``settings``."""
    return {
        "global": {
            "airplane_mode_on": "0",
            "animator_duration_scale": "1.0",
            "auto_time": "1",
            "bluetooth_on": "1",
            "data_roaming": "0",
            "device_name": "Bridge Phone",
            "mobile_data": "1",
            "stay_on_while_plugged_in": "0",
            "transition_animation_scale": "1.0",
            "wifi_on": "1",
            "window_animation_scale": "1.0",
        },
        "secure": {
            "bluetooth_name": "Bridge Phone",
            "default_input_method": IME,
            "enabled_accessibility_services": "",
            "enabled_input_methods": IME,
            "location_mode": "3",
            "sms_default_application": MESSAGES,
            "ui_night_mode": "1",
            "user_setup_complete": "1",
        },
        "system": {
            "accelerometer_rotation": "0",
            "font_scale": "1.0",
            "haptic_feedback_enabled": "1",
            "pointer_location": "0",
            "screen_brightness": "102",
            "screen_off_timeout": "600000",
            "show_touches": "0",
            "user_rotation": "0",
            "volume_music": "5",
        },
    }


def properties() -> dict[str, str]:
    """System properties, as ``getprop`` lists them."""
    return {
        "dalvik.vm.heapsize": "512m",
        "init.svc.adbd": "running",
        "net.bt.name": "Android",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "Etc/UTC",
        "ro.boot.qemu": "0",
        "ro.build.characteristics": "default",
        "ro.build.id": "UP1A.231005.007",
        "ro.build.type": "user",
        "ro.build.version.codename": "REL",
        "ro.build.version.release": RELEASE,
        "ro.build.version.sdk": str(SDK),
        "ro.debuggable": "0",
        "ro.product.brand": "bridge",
        "ro.product.cpu.abi": "arm64-v8a",
        "ro.product.cpu.abilist": "arm64-v8a,armeabi-v7a,armeabi",
        "ro.product.device": "virtual",
        "ro.product.locale": "en-US",
        "ro.product.manufacturer": "bridge",
        "ro.product.model": "Virtual Phone",
        "ro.product.name": "virtual",
        "ro.secure": "1",
        "ro.serialno": "BRIDGEVIRTUAL1",
        "ro.sf.lcd_density": "440",
        "service.adb.root": "0",
        "sys.boot_completed": "1",
        "wifi.interface": "wlan0",
    }


def threads() -> list[Thread]:
    """Conversations, newest first."""
    now = time.time()
    code = "Your verification code is 482913. It expires in 10 minutes. Do not share it."
    return [
        Thread("AlphaBank", "AlphaBank", [Message(code, "9:38", sent=now - 180)], unread=True),
        Thread(
            "王小明",
            "+8613800138000",
            [
                Message("你好！周六下午三点一起喝茶好吗？", "8:15", sent=now - 5160),
                Message("好的，老地方见。", "8:20", mine=True, sent=now - 4860),
                Message("记得带上那本书，谢谢！", "8:21", sent=now - 4800),
            ],
        ),
        Thread(
            "Maria Lopez",
            "+15550100123",
            [
                Message("Are we still on for lunch?", "Yesterday", sent=now - 86400),
                Message("Yes, 12:30 at the corner cafe.", "Yesterday", mine=True, sent=now - 86300),
                Message("Perfect, see you there", "Yesterday", sent=now - 86200),
            ],
        ),
        Thread(
            "City Library",
            "+15550100177",
            [
                Message(
                    "Your book is due on Friday. Reply RENEW to keep it.", "Mon", sent=now - 259200
                )
            ],
        ),
    ]


def contacts() -> list[Contact]:
    """Sorted as the app shows them."""
    return [
        Contact("Anna Schmidt", "+4915550100200"),
        Contact("Ben Carter", "+15550100144"),
        Contact("City Library", "+15550100177"),
        Contact("David Kim", "+15550100155"),
        Contact("Maria Lopez", "+15550100123"),
        Contact("Noah Williams", "+15550100166"),
        Contact("王小明", "+8613800138000"),
    ]


def notifications() -> list[Notification]:
    """What waits in the shade."""
    text = "Your verification code is 482913. It expires in 10 minutes. Do not share it."
    return [
        Notification(MESSAGES, "AlphaBank", text, thread="AlphaBank"),
        Notification("com.android.systemui", "USB debugging connected", "Tap to turn it off"),
    ]
