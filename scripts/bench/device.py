"""One observe and one tap: ours against the stock uiautomator2 client, on one virtual phone.

Run: python scripts/bench/device.py [repetitions]. Overhead is the wall time less the time the
phone spent on the calls (it counts that itself) and less resizing the picture.
Target: at least 10 times less overhead than stock.
"""

from __future__ import annotations

import io
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measure import table

from device_tools import catalog
from device_tools.adb_server import AdbAddress
from device_tools.cancel import CancelScope
from device_tools.executor import open_phone_tools
from device_tools.schema import validate
from device_tools.virtual import launcher
from device_tools.virtual.launcher import VirtualPhone


def overheads(
    phone: VirtualPhone, subjects: dict[str, Callable[[], object]], repeat: int
) -> dict[str, tuple[float, float]]:
    """Median milliseconds of wall time and of overhead per subject; subjects alternate."""
    walls: dict[str, list[float]] = {name: [] for name in subjects}
    costs: dict[str, list[float]] = {name: [] for name in subjects}
    for call in subjects.values():
        call()
    for _ in range(repeat):
        for name, call in subjects.items():
            before = phone.state()["service_seconds"]
            start = time.perf_counter()
            call()
            wall = time.perf_counter() - start
            walls[name].append(wall * 1000)
            costs[name].append((wall - (phone.state()["service_seconds"] - before)) * 1000)
    return {
        name: (statistics.median(walls[name]), statistics.median(costs[name])) for name in subjects
    }


def resize_milliseconds(jpeg: bytes, repeat: int) -> float:
    """What one decode, resize and encode of the phone's picture takes, as an observation does."""
    from PIL import Image
    from PIL.Image import Resampling

    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        with Image.open(io.BytesIO(jpeg)) as picture:
            small = picture.resize((576, 1280), Resampling.HAMMING)
            small.save(io.BytesIO(), "JPEG", quality=80)
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def main(repeat: int) -> None:
    with tempfile.TemporaryDirectory() as folder, launcher.start(Path(folder), name="b") as phone:
        os.environ["ANDROID_ADB_SERVER_PORT"] = str(phone.handle.adb_port)
        import uiautomator2

        stock = uiautomator2.connect(phone.handle.serial)
        address = AdbAddress("127.0.0.1", phone.handle.adb_port)
        with open_phone_tools(phone.handle.serial, address, CancelScope(), report=False) as tools:
            look = validate(catalog.OBSERVE_SCREEN, "c", {})
            tap = validate(catalog.TAP, "c", {"x": 540, "y": 1100, "coordinate_space": "screen"})

            def stock_observe() -> None:
                stock.dump_hierarchy()
                stock.screenshot()
                stock.app_current()

            measured = overheads(
                phone,
                {
                    "observe, ours": lambda: tools.execute(look),
                    "observe, stock": stock_observe,
                    "tap, ours": lambda: tools.execute(tap),
                    "tap, stock": lambda: stock.click(540, 1100),
                },
                repeat,
            )
        resize = resize_milliseconds(phone_picture(stock), repeat)
    wall, cost = measured["observe, ours"]
    measured["observe, ours"] = (wall, max(cost - resize, 0.01))
    rows = [[name, f"{wall:.2f}", f"{cost:.2f}"] for name, (wall, cost) in measured.items()]
    print(table(["operation", "wall, ms", "overhead, ms"], rows))
    print(f"\nresizing the picture: {resize:.1f} ms")
    for name in ("observe", "tap"):
        ratio = measured[f"{name}, stock"][1] / measured[f"{name}, ours"][1]
        print(f"{name}: {ratio:.1f} times less overhead than stock (target: 10)")


def phone_picture(stock: object) -> bytes:
    buffer = io.BytesIO()
    stock.screenshot().save(buffer, "JPEG", quality=80)  # type: ignore[attr-defined]
    return buffer.getvalue()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
