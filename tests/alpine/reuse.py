"""Simulated reuse of process numbers, with the guard's own functions in the phone's shell.

A scan notes processes of the supervisor; before the signal is sent they have gone and their
numbers belong to others. Here the scan's answer is replaced by the numbers of five innocents.
"""

from __future__ import annotations

import time

from alpine.channel import EXIT, STDOUT, open_channel
from alpine.identity import USER
from alpine.supervisor import guard_functions
from device_tools.adb import AdbPhone
from device_tools.limits import Limit

INNOCENTS = 5
LIMIT = Limit("reusing process numbers", 1800.0)

_SCRIPT = """
innocents=
for n in 1 2 3 4 5; do
  BRIDGE_TOKEN=another sleep 1900 9</dev/null &
  innocents="$innocents$! "
done
sleep 0.3
find_candidates() { pids=$innocents; }
n=0
while [ $n -lt $2 ]; do
  signal_owned KILL
  [ "$left" = 0 ] || echo "hit in round $n"
  n=$((n + 1))
done
alive=0
for pid in $innocents; do
  look $pid && alive=$((alive + 1))
  kill -9 $pid
done
echo "alive $alive"
"""


def innocents_left(phone: AdbPhone, rounds: int) -> int:
    """How many of the five live after ``rounds`` times five kills that name them."""
    out = b""
    line = USER.script(guard_functions() + _SCRIPT, "f" * 32, str(rounds))
    with open_channel(phone, line) as channel:
        end = time.monotonic() + LIMIT.seconds
        while (packet := channel.read(end, LIMIT)).kind != EXIT:
            out += packet.data if packet.kind == STDOUT else b""
    assert b"hit" not in out, out
    return int(out.split(b"alive ")[1])
