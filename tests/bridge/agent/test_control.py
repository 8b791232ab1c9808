"""Steering and pausing with real threads, and thousands of seeded interleavings."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

import pytest

from bridge.agent.control import MAX_CHARS, MAX_WAITING, RunControl
from bridge.conversation.events import Paused, Resumed, RunEvent, SteeringQueued, SteeringRead
from bridge.errors import ControlError, RecordError
from device_tools.cancel import CancelScope
from device_tools.errors import Cancelled


@dataclass
class Journal:
    """Keeps the events; ``full`` refuses them as a full disk does."""

    events: list[RunEvent] = field(default_factory=list)
    full: bool = False

    def record(self, event: RunEvent) -> None:
        if self.full:
            raise RecordError("the disk is full")
        self.events.append(event)


def control() -> tuple[RunControl, Journal, CancelScope]:
    journal, cancel = Journal(), CancelScope()
    return RunControl(journal, cancel), journal, cancel


def test_one_message_for_each_turn_in_order() -> None:
    """Each turn takes the oldest message and no more than one; the record says when."""
    steered, journal, _ = control()
    assert [steered.steer(text, "socket") for text in ("a", " b ")] == [1, 2]
    taken = [steered.take(turn) for turn in (1, 2, 3)]
    assert [message.text if message else None for message in taken] == ["a", "b", None]
    assert journal.events == [
        SteeringQueued(1, "a", "socket"),
        SteeringQueued(2, "b", "socket"),
        SteeringRead(1, 1, "a"),
        SteeringRead(2, 2, "b"),
    ]


def test_the_last_check_closes_the_inlet() -> None:
    """A run with its answer goes on for a waiting message, and closes when none waits."""
    steered, _, _ = control()
    steered.steer("more", "terminal")
    assert steered.goes_on()
    steered.take(2)
    assert not steered.goes_on()
    with pytest.raises(ControlError, match="no more messages"):
        steered.steer("late", "terminal")
    assert steered.close() == ()


def test_what_no_turn_read_is_listed() -> None:
    """Closing tells the messages that were acknowledged and not read."""
    steered, _, _ = control()
    steered.steer("a", "socket")
    steered.steer("b", "socket")
    steered.take(1)
    assert steered.close() == ("b",)


def test_what_is_not_recorded_is_not_accepted() -> None:
    """A message that the record refuses raises, gets no number and reaches no turn."""
    steered, journal, _ = control()
    journal.full = True
    with pytest.raises(RecordError):
        steered.steer("a", "socket")
    journal.full = False
    assert steered.take(1) is None
    assert steered.steer("b", "socket") == 1


@pytest.mark.parametrize("text", ["", "  \n", "x" * (MAX_CHARS + 1)])
def test_empty_and_endless_messages_are_refused(text: str) -> None:
    """Nothing is queued of a message without words or above the limit."""
    steered, journal, _ = control()
    with pytest.raises(ControlError, match="characters"):
        steered.steer(text, "socket")
    assert journal.events == []


def test_the_queue_is_bounded() -> None:
    """One message above the limit is refused with what to do."""
    steered, _, _ = control()
    for number in range(MAX_WAITING):
        steered.steer(str(number), "socket")
    with pytest.raises(ControlError, match="wait already"):
        steered.steer("one more", "socket")


def test_a_cancelled_run_takes_no_message() -> None:
    """Nothing is accepted that could only be listed as unread."""
    steered, _, cancel = control()
    cancel.cancel()
    with pytest.raises(ControlError):
        steered.steer("a", "socket")


def test_a_pause_holds_until_resume_and_a_message_does_not_lift_it() -> None:
    """The checkpoint returns only after resume; both are recorded once."""
    steered, journal, _ = control()
    assert steered.pause() and not steered.pause()
    passed = threading.Event()

    def run() -> None:
        steered.checkpoint(3)
        passed.set()

    thread = threading.Thread(target=run)
    thread.start()
    steered.steer("go on", "socket")
    assert not passed.wait(0.2)
    assert steered.resume() and not steered.resume()
    thread.join(5)
    assert passed.is_set()
    stops = [event for event in journal.events if not isinstance(event, SteeringQueued)]
    assert stops == [Paused(3), Resumed(3)]


def test_cancel_ends_a_pause() -> None:
    """A paused run raises Cancelled at once when it is cancelled, and stays paused for nobody."""
    steered, journal, cancel = control()
    steered.pause()
    threading.Timer(0.1, cancel.cancel).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        steered.checkpoint(1)
    assert time.monotonic() - started < 5
    assert journal.events == [Paused(1)]


def test_resume_before_the_checkpoint_leaves_no_trace() -> None:
    """A pause that no checkpoint met is not recorded."""
    steered, journal, _ = control()
    steered.pause()
    steered.resume()
    steered.checkpoint(1)
    assert journal.events == []


@pytest.mark.parametrize("seed", range(4))
def test_nothing_accepted_is_lost_in_any_order(seed: int) -> None:
    """1,000 drawn orders of steps: every accepted message is read by exactly one turn, in order,
    or unread in the end, and after the end nothing is accepted."""
    chance = random.Random(seed)
    for _ in range(250):
        steered, _, cancel = control()
        accepted: list[str] = []
        read: list[str] = []
        over = False
        for number in range(chance.randrange(4, 30)):
            match chance.choice(("steer", "steer", "turn", "check", "pause", "resume", "cancel")):
                case "steer":
                    try:
                        steered.steer(f"m{number}", "socket")
                        accepted.append(f"m{number}")
                        assert not over and not cancel.cancelled
                    except ControlError:
                        assert over or cancel.cancelled
                case "turn" if not over:
                    if message := steered.take(number):
                        read.append(message.text)
                case "check" if not over:
                    over = not steered.goes_on()
                case "pause":
                    steered.pause()
                case "resume":
                    steered.resume()
                case "cancel" if chance.random() < 0.1:
                    cancel.cancel()
        assert [*read, *steered.close()] == accepted


def _race(chance: random.Random) -> tuple[list[str], list[str], list[str], tuple[str, ...]]:
    """Three threads steer and one pauses while a run takes turns until its last check."""
    steered, _, _ = control()
    accepted: list[list[str]] = [[], [], []]
    start = threading.Barrier(5)
    waits = [chance.random() / 2000 for _ in range(5)]

    def steer(who: int) -> None:
        start.wait()
        for number in range(6):
            time.sleep(waits[who])
            try:
                steered.steer(f"{who}.{number}", "socket")
            except ControlError:
                return
            accepted[who].append(f"{who}.{number}")

    def hold() -> None:
        start.wait()
        for _ in range(4):
            steered.pause()
            time.sleep(waits[3])
            steered.resume()

    threads = [threading.Thread(target=steer, args=(who,)) for who in range(3)]
    threads.append(threading.Thread(target=hold))
    for thread in threads:
        thread.start()
    start.wait()
    read: list[str] = []
    going, turn = True, 0
    while going and turn < 12:
        turn += 1
        steered.checkpoint(turn)
        if message := steered.take(turn):
            read.append(message.text)
        time.sleep(waits[4])
        going = steered.goes_on()
    unread = steered.close()
    for thread in threads:
        thread.join(10)
    return accepted[0], accepted[1], accepted[2], (*read, *unread)


def test_threads_that_race_with_the_end_lose_nothing() -> None:
    """With real threads each accepted message is told exactly once, in its sender's order."""
    chance = random.Random(5)
    for _ in range(60):
        *accepted, told = _race(chance)
        assert sorted(told) == sorted(text for each in accepted for text in each)
        for who, texts in enumerate(accepted):
            assert [text for text in told if text.startswith(f"{who}.")] == texts
