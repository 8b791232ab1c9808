"""A whole run in the xml mode: a real HTTP server, provider, carrier, toolbox and record."""

from __future__ import annotations

import json
from pathlib import Path

from bridge.cst.xml_prompt import xml_block
from tests.bridge.agent.test_modes import END, LOOK_AND_TAP, Bench, Calls, chat_answer


def blocks(calls: Calls) -> str:
    """One block a call; blocks may follow each other."""
    return "".join(
        xml_block(name, {k: v if isinstance(v, str) else json.dumps(v) for k, v in values.items()})
        for _, name, values in calls
    )


def test_a_run_by_blocks_executes_in_order_and_ends(tmp_path: Path) -> None:
    """Nothing of the tools goes into the request; the results come back as numbered frames."""
    answers = [chat_answer("I look.\n" + blocks(LOOK_AND_TAP)), chat_answer(blocks(END))]
    bench = Bench(tmp_path, "xml", answers)
    answer = bench.run()
    assert (answer.success, answer.summary) == (True, "Done.")
    assert bench.phone.executed == ["observe_screen {}", "tap_element {'index': 12}"]
    first, second = bench.requests
    assert "tools" not in first
    assert "<minimax:tool_call>" in first["messages"][0]["content"]
    assert second["messages"][-2]["content"] == ("I look.\n" + blocks(LOOK_AND_TAP)).rstrip("\n")
    assert "result x2 exit=0 " in json.dumps(second["messages"][-1])


def test_a_cut_block_runs_nothing_and_the_model_is_told(tmp_path: Path) -> None:
    """The whole call before the cut is answered as not run, and the next reply may do better."""
    cut = blocks(LOOK_AND_TAP).rstrip("\n").removesuffix("</minimax:tool_call>")
    bench = Bench(tmp_path, "xml", [chat_answer(cut), chat_answer(blocks(END))])
    assert bench.run().success
    assert bench.phone.executed == []
    told = json.dumps(bench.requests[1]["messages"][-1])
    assert "result x1 exit=2 " in told
    assert "stream ended inside the tool-call block" in told
