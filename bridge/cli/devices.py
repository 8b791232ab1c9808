"""``bridge devices`` and ``bridge doctor``: what is attached, and what is missing."""

from __future__ import annotations

import typer

from bridge.cli.common import JsonFlag, print_json, print_note


def devices(as_json: JsonFlag = False) -> None:
    """List attached phones and running virtual ones."""
    from bridge.config import home_folder
    from device_tools.adb import ensure_server
    from device_tools.adb_server import AdbAddress, list_devices
    from device_tools.cancel import CancelScope
    from device_tools.virtual import launcher

    address, cancel = AdbAddress.default(), CancelScope()
    ensure_server(address, cancel)
    rows = [(entry.serial, entry.state, entry.model) for entry in list_devices(address, cancel)]
    rows += [
        (handle.serial, "device", f"virtual phone {handle.name!r}")
        for handle in launcher.list_running(home_folder())
    ]
    for serial, state, model in rows:
        if as_json:
            print_json({"v": 1, "type": "device", "serial": serial, "state": state, "model": model})
        else:
            print(f"{serial}  {state}  {model}".rstrip())
    if not rows and not as_json:
        print_note("no phone is attached; `--device virtual` makes one")


def doctor(as_json: JsonFlag = False) -> None:
    """Check adb, the phones and the model provider.

    Nothing is changed on the host.
    """
    from bridge.doctor import examine

    healthy = True
    for check in examine():
        healthy = healthy and check.ok
        if as_json:
            print_json(
                {"v": 1, "type": "check", "name": check.name, "ok": check.ok,
                 "text": check.text, "fix": check.fix}
            )  # fmt: skip
            continue
        print(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.text}")
        if check.fix:
            print(f"      {check.fix}")
    raise typer.Exit(0 if healthy else 1)
