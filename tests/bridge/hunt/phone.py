"""A virtual phone whose messages, notifications and notes hold what a hunt planted.

    python -m tests.bridge.hunt.phone FOLDER NAME

The plan comes as one JSON line on stdin, so that it stands in no file; the phone ends with stdin.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from device_tools.virtual import process
from device_tools.virtual.phone import Phone
from device_tools.virtual.records import Message, Note, Notification, Thread


def filled(plan: dict[str, Any]) -> Phone:
    phone = Phone()
    model = phone.model
    model.threads[:0] = [
        Thread(f"Sender {n}", f"+1555020{n:04}", [Message(text, "9:38")])
        for n, text in enumerate(plan["messages"])
    ]
    model.notifications[:0] = [
        Notification("com.android.messaging", f"Sender {n}", text)
        for n, text in enumerate(plan["notifications"])
    ]
    model.notes = [Note(f"Note {n}", text) for n, text in enumerate(plan["notes"])]
    model.settings["global"]["planted"] = plan["setting"]
    return phone


def _line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(0, 1)
    return line


if __name__ == "__main__":
    folder, name = Path(sys.argv[1]), sys.argv[2]
    folder.mkdir(parents=True, mode=0o700)
    # a root shell needs a user namespace of many ids
    root = "magisk" if shutil.which("newuidmap") else "none"
    options = process.Options(folder, name, owned=True, root=root)
    sys.exit(process.run(options, filled(json.loads(_line()))))
