"""One run per phone across processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bridge.device_lock import hold_device
from device_tools.errors import DeviceNotReady

HOLD = (
    "import sys; from pathlib import Path\n"
    "from bridge.device_lock import hold_device\n"
    "with hold_device(Path(sys.argv[1]), '127.0.0.1:1', 'run r-other'):\n"
    "    print('held', flush=True); sys.stdin.read()\n"
)


def test_a_phone_held_by_another_process_is_refused_naming_its_run(tmp_path: Path) -> None:
    """The second process is refused with the holder's run; after kill -9 the phone is free."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with (
            pytest.raises(DeviceNotReady, match="run r-other"),
            hold_device(tmp_path, "127.0.0.1:1", "run r-mine"),
        ):
            pass
        with hold_device(tmp_path, "127.0.0.1:2", "run r-mine"):
            pass
        holder.kill()
        holder.wait()
        with hold_device(tmp_path, "127.0.0.1:1", "run r-mine"):
            pass
