"""The ``xml`` carrier: MiniMax tool-call blocks in the text.

The format closes with the reply, not with a call: nothing executes before the end of the
stream, and then only after a clean ``stop`` below the output cap and a batch without a fault.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.conversation.frames import (
    ArgumentConfirmed,
    CallOpened,
    CallReady,
    CallRefused,
    ContractError,
    ContractErrorKind,
    Frame,
    TextConfirmed,
)
from bridge.conversation.messages import AssistantMessage, CallResult, Message, ToolCall
from bridge.conversation.stream import Finish, StreamEvent, TextDelta, Usage
from bridge.cst.carrier import NO_TEXT
from bridge.cst.gate import ERRORS, TABLE, CallState, Verdict, ending, most
from bridge.cst.results import results_message
from bridge.cst.utf8 import Utf8Joiner
from bridge.cst.values import typed
from bridge.cst.xml_blocks import BlockFault, Invoke, read_blocks
from bridge.cst.xml_prompt import fault_message, xml_prompt
from bridge.cst.xml_scan import TextScanner
from device_tools.schema import ToolSpec

MAX_BLOCKS = 4 * 1024 * 1024
"""Characters of all blocks of one reply: they are held until its end."""


class XmlCarrier:
    """Stateless: each response gets its own reader."""

    name = "xml"

    def system_prompt(self, tools: Sequence[ToolSpec]) -> str:
        """The rules of the block, one example, and the tools with their arguments."""
        return xml_prompt(tools)

    def request_tools(self, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        """None: the prompt teaches them."""
        return ()

    def reader(self, tools: Sequence[ToolSpec], output_cap: int | None) -> XmlReader:
        """A fresh reader for one response; ``output_cap`` in tokens."""
        return XmlReader(tools, output_cap)

    def reply(self, text: str, calls: Sequence[ToolCall]) -> AssistantMessage:
        """The text alone: the blocks of the calls are part of it."""
        return AssistantMessage(text or NO_TEXT)

    def results(self, results: Sequence[CallResult], note: str = "") -> Message:
        """Result frames in the model's order, then the note."""
        return results_message(results, note)


class XmlReader:
    """Reads one response; ``feed`` per event, ``close`` once. Calls get the ids x1, x2, ..."""

    def __init__(self, tools: Sequence[ToolSpec], output_cap: int | None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._output_cap = output_cap
        self._output_tokens: int | None = None
        self._utf8 = Utf8Joiner()
        self._scanner = TextScanner()
        self._texts: list[str] = []
        self._pieces: list[str] = []  # from the first block on
        self._size = 0
        self._replayed = ""  # of the blocks, up to the last call that was answered
        self._over = False

    @property
    def replay_text(self) -> str:
        """The text, and the blocks up to the last call that got an answer."""
        return "".join(self._texts) + self._replayed

    def feed(self, event: StreamEvent) -> list[Frame]:
        """Text that can hold no block any more; calls wait for the end."""
        if isinstance(event, Usage):
            self._output_tokens = most(self._output_tokens, event.output_tokens)
        if not isinstance(event, TextDelta) or self._over:
            return []
        text, block = self._scanner.feed(self._utf8.feed(event.text).decode())
        self._pieces.append(block)
        self._size += len(block)
        frames = self._confirmed(text)
        if self._size > MAX_BLOCKS:
            what = f"the tool calls of one reply hold at most {MAX_BLOCKS} characters"
            frames.append(self._fault(BlockFault(ContractErrorKind.LIMIT, MAX_BLOCKS, what)))
        return frames

    def close(self, finish: Finish | None) -> list[Frame]:
        """Every whole call of the reply, ready or refused by the gate; then the contract error
        where the block is broken."""
        if self._over:
            return []
        self._over = True
        end = ending(finish, self._output_tokens, self._output_cap)
        if not self._scanner.opened:
            return self._without_block(TABLE["xml"][CallState.WHOLE][end].runs)
        text = "".join(self._pieces)
        blocks = read_blocks(text)
        verdict = TABLE["xml"][CallState.BROKEN if blocks.fault else CallState.WHOLE][end]
        frames: list[Frame] = []
        for number, invoke in enumerate(blocks.invokes, 1):
            frames += self._judged(f"x{number}", invoke, text, verdict)
        if blocks.fault:
            frames.append(self._fault(blocks.fault))
            self._replayed = text[: blocks.invokes[-1].stop] if blocks.invokes else ""
        else:
            self._replayed = text[: blocks.stop]
        return frames

    def _without_block(self, clean: bool) -> list[Frame]:
        frames = self._confirmed(self._scanner.close()) if clean else []
        if what := self._scanner.lost_call:
            frames.append(self._fault(BlockFault(ContractErrorKind.UNEXPECTED_LINE, 0, what)))
        return frames

    def _confirmed(self, text: str) -> list[Frame]:
        if not text:
            return []
        self._texts.append(text)
        return [TextConfirmed(text)]

    def _judged(self, call_id: str, invoke: Invoke, text: str, verdict: Verdict) -> list[Frame]:
        spec = self._tools.get(invoke.name)
        schemas = spec.properties if spec is not None else {}
        values = invoke.values
        arguments = {key: typed(value, schemas.get(key)) for key, value in values.items()}
        call = ToolCall(call_id, invoke.name, arguments, text[invoke.start : invoke.stop])
        return [
            CallOpened(call_id, invoke.name),
            *(ArgumentConfirmed(call_id, key, value) for key, value in values.items()),
            CallReady(call) if verdict.runs else CallRefused(call, verdict.error, _why(verdict)),
        ]

    def _fault(self, fault: BlockFault) -> ContractError:
        self._over = True
        before = "".join([*self._texts, "".join(self._pieces)[: fault.position]])
        position = len(before.encode())
        message = fault_message(fault, position, self._tools)
        return ContractError(fault.kind, message, position, arrived=fault.arrived)


def _why(verdict: Verdict) -> str:
    if verdict.error == "malformed_call":
        return "another part of the block is broken, and a block runs wholly or not at all"
    return ERRORS[verdict.error]
