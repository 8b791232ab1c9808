"""The phone's networks: what it is connected to, and with root the passwords it keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from xml.etree import ElementTree

from device_tools.adb import AdbPhone
from device_tools.errors import NotAvailable
from device_tools.result import ToolResult, done
from device_tools.system.ask import ask, listing, one_line, require_answer, told, unavailable
from device_tools.system.root import root_command

# newest first: Android 11+, 8 to 10, and before
_STORES = (
    "/data/misc/apexdata/com.android.wifi/WifiConfigStore.xml",
    "/data/misc/wifi/WifiConfigStore.xml",
    "/data/misc/wifi/wpa_supplicant.conf",
)
# a name may hold commas and quotes: it ends where the next field begins
_SSID = re.compile(r"SSID: (?:\"(.*?)\"|(.*?)), BSSID: ", re.DOTALL)
_SPEED = re.compile(r"(?<!x )Link speed: (-?\d+ ?Mbps)")
_SIGNAL = re.compile(r"RSSI: (-\d+)")
_ADDRESS = re.compile(r"inet6? (\S+).*?scope global(?: \S+)* (\S+)$", re.MULTILINE)
_OLD_BLOCK = re.compile(r"network=\{(.*?)\n\}", re.DOTALL)


@dataclass(frozen=True)
class Wifi:
    """``enabled`` None when the phone did not say; ``ssid`` "" when not connected."""

    enabled: bool | None
    ssid: str
    signal: str
    speed: str


@dataclass(frozen=True)
class SavedNetwork:
    """``key`` is the password, "" for an open network or one kept encrypted."""

    ssid: str
    key: str
    security: str


def parse_wifi(text: str) -> Wifi:
    """``cmd wifi status`` (Android 12+) or ``dumpsys wifi``."""
    enabled = None
    if found := re.search(r"Wi-?[Ff]i is (enabled|disabled)", text):
        enabled = found[1] == "enabled"
    name = _SSID.search(text)
    ssid = (name[1] if name[1] is not None else name[2]) if name else ""
    signal, speed = _SIGNAL.search(text), _SPEED.search(text)
    known = ssid not in ("<unknown ssid>", "<none>", "NULL", "null")
    return Wifi(
        enabled, ssid if known else "", signal[1] if signal else "", speed[1] if speed else ""
    )


def parse_saved_names(text: str) -> list[tuple[str, str]]:
    """``cmd wifi list-networks``: (name, security); a second line of one id is an upgraded form."""
    lines = text.splitlines()
    head = next((line for line in lines if line.startswith("Network Id")), "")
    start, end = head.find("SSID"), head.find("Security type")
    rows = []
    for line in lines:
        if start > 0 and re.match(r"\d+\s", line):
            cells = re.match(r"\d+\s+(.*?)\s{2,}(\S+)\s*$", line)
            rows.append((cells[1], cells[2]) if cells else (line[start:end].strip(), ""))
    return rows


def parse_addresses(text: str) -> list[tuple[str, str]]:
    """``ip addr``: (interface, address with prefix) of everything global."""
    return [(interface, address) for address, interface in _ADDRESS.findall(text)]


def parse_store(text: str) -> list[SavedNetwork]:
    """``WifiConfigStore.xml``; raises ValueError when it is none."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a store of Android's has no document type")
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 -- without DOCTYPE there are no entities
    except ElementTree.ParseError as error:
        raise ValueError(str(error)) from error
    networks = []
    for entry in root.iter("WifiConfiguration"):
        values = {item.get("name", ""): item.text or "" for item in entry.iter("string")}
        config, ssid = values.get("ConfigKey", ""), values.get("SSID", "")
        security = config.removeprefix(ssid).lstrip("-") or "unknown"
        networks.append(SavedNetwork(_bare(ssid), _bare(values.get("PreSharedKey", "")), security))
    return networks


def parse_supplicant(text: str) -> list[SavedNetwork]:
    """``wpa_supplicant.conf`` of Android 7 and older."""
    networks = []
    for block in _OLD_BLOCK.findall(text):
        values = dict(re.findall(r"^[ \t]*(\w+)=(.*)$", block, re.MULTILINE))
        key = values.get("psk") or values.get("wep_key0") or ""
        networks.append(
            SavedNetwork(_bare(values.get("ssid", "")), _bare(key), values.get("key_mgmt", "NONE"))
        )
    return networks


def _bare(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] == '"'
    return text[1:-1] if quoted else text


def network_info(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    wifi = _wifi(phone)
    properties = [
        ("mobile operator", "gsm.operator.alpha"), ("mobile network", "gsm.network.type"),
    ]  # fmt: skip
    facts = {
        "airplane mode": _switch(ask(phone, "settings", "get", "global", "airplane_mode_on")),
        "wi-fi": {True: "on", False: "off", None: "unknown"}[wifi.enabled],
        "network": wifi.ssid,
        "signal": f"{wifi.signal} dBm" if wifi.signal else "",
        "speed": wifi.speed,
        **{name: ask(phone, "getprop", key).strip().strip(",") for name, key in properties},
        "mobile data": _switch(ask(phone, "settings", "get", "global", "mobile_data")),
    }
    addresses = parse_addresses(ask(phone, "ip", "addr"))
    facts["addresses"] = ", ".join(f"{address} ({name})" for name, address in addresses)
    return told(facts)


def _wifi(phone: AdbPhone) -> Wifi:
    try:
        return parse_wifi(ask(phone, "cmd", "wifi", "status"))
    except NotAvailable:
        # before Android 12 the command has no such word for adb
        return parse_wifi(ask(phone, "dumpsys", "wifi"))


def _switch(value: str) -> str:
    return {"0": "off", "1": "on"}.get(value.strip(), "")


def wifi_credentials(phone: AdbPhone, _arguments: Mapping[str, Any]) -> ToolResult:
    as_root = root_command(phone)
    reasons = []
    for path in _STORES:
        result = phone.shell(as_root("cat", path))
        text = result.stdout.decode("utf-8", "replace")
        if result.code != 0 or not text.strip():
            reasons.append(one_line(result.text, 120))
            continue
        try:
            networks = parse_store(text) if path.endswith(".xml") else parse_supplicant(text)
        except ValueError as error:
            require_answer(False, f"{path} ({error})", "not shown, as it holds passwords")
        lines = [
            f"{one_line(item.ssid, 80)}: {item.key or 'no password stored'} ({item.security})"
            for item in networks
        ]
        found = [{"ssid": n.ssid, "password": n.key, "security": n.security} for n in networks]
        told = done(listing(lines, nothing="no network is saved"), networks=found)
        return replace(told, secrets=tuple(item.key for item in networks if item.key))
    raise unavailable("the list of saved networks", f"no known file of it: {'; '.join(reasons)}")
