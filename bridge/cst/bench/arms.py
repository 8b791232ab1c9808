"""The arms of experiment D: what a model is taught, and the mode that reads what it writes.

``ctl`` and ``ctl-heredoc`` are the product's own prompts. In ``ctl`` a model may dodge counting by
heredoc and inline values, so ``ctl, counts only`` teaches the length prefix alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bridge.cst.bench.conversations import BENCH_TOOLS
from bridge.cst.carriers import CARRIERS
from bridge.cst.prompt import tool_list

_COUNTS = """\
# Calling tools
To use a tool write a call frame as plain text, each part on its own line:

call c1 write_file
arg path 14
/sdcard/ab.txt
arg content 10
some text

end
- First line: the word call, an id of your choice, the tool's name. Nothing else on that line.
- Then each argument: arg KEY NBYTES, and below that line exactly NBYTES bytes (UTF-8) of the \
value and a newline that is not counted.
- end closes the frame and the call runs at once.
- After your last frame stop writing.

Tools (* marks a required argument):
"""


@dataclass(frozen=True)
class Arm:
    """``mode`` names the carrier that reads the replies."""

    mode: str
    prompt: Callable[[], str]


def _own(mode: str) -> Arm:
    return Arm(mode, lambda: CARRIERS[mode].system_prompt(BENCH_TOOLS))


ARMS: Mapping[str, Arm] = {
    "ctl": _own("ctl"),
    "ctl-heredoc": _own("ctl-heredoc"),
    "ctl, counts only": Arm("ctl", lambda: _COUNTS + tool_list(BENCH_TOOLS)),
}
