from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bridge.config import FILE_NAME, Loaded, load
from bridge.config_edit import set_value
from bridge.errors import ConfigurationError

FILE = """\
# mine
provider = "openrouter"  # for now
model = "a"

[groups]
terminal = false

[providers.openrouter]
model = "b"
thinking = "low"
web_search = true
context_window = 5000
[providers.openrouter.request]
seed = 3
[providers.openrouter.headers]
X-Title = "phone"

[providers.custom]
base_url = "http://127.0.0.1:1/v1"
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, without settings from the environment."""
    for name in ("PROVIDER", "MODEL", "WIRE", "BASE_URL"):
        monkeypatch.delenv(f"BRIDGE_{name}", raising=False)
    monkeypatch.setenv("BRIDGE_HOME", str(tmp_path))
    return tmp_path


def loaded(home: Path, text: str, **flags: Any) -> Loaded:
    (home / FILE_NAME).write_text(text, encoding="utf-8")
    return load(flags)


def test_a_providers_table_counts_for_that_provider_only(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table wins over the rest of the file, the environment over it, a flag over all."""
    own = loaded(home, FILE).settings
    assert (own.model, own.thinking, own.web_search, own.context_window) == ("b", "low", True, 5000)
    assert (own.request, own.headers) == ({"seed": 3}, {"X-Title": "phone"})
    other = loaded(home, FILE, provider="custom").settings
    assert (other.model, other.thinking, other.base_url) == ("a", None, "http://127.0.0.1:1/v1")
    monkeypatch.setenv("BRIDGE_MODEL", "c")
    assert loaded(home, FILE).settings.model == "c"
    assert loaded(home, FILE, model="d").settings.model == "d"


@pytest.mark.parametrize(
    ("text", "flags", "wire"),
    [
        ("", {"provider": "openai"}, None),
        ('provider = "openai"', {}, "chat"),
        ('provider = "openai"', {"model": "m"}, "chat"),
        ('provider = "openai"\nwire = "responses"', {}, "responses"),
        ('provider = "openai"\n[providers.openai]\nmodel = "m"', {}, None),
        ('provider = "openai"', {"wire": "responses"}, "responses"),
        ('provider = "ollama"', {}, None),
    ],
)
def test_a_configuration_from_before_keeps_its_wire(
    home: Path, text: str, flags: dict[str, Any], wire: str | None
) -> None:
    """OpenAI named in the file without a word on wires stays on Chat Completions; a new choice on
    the command line, or a table of the newer kind, leaves it to the profile."""
    assert loaded(home, text, **flags).settings.wire == wire


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("request = {a = 1}", "belongs to one provider"),
        ("[providers.x]\ncolour = 1", r"providers\.x\.colour"),
        ('[providers.x]\napi_key = "k"', "api_key"),
        ('[providers.x]\ndevice = "k"', r"providers\.x\.device"),
        ('[providers.x.headers]\nAuthorization = "Bearer k"', "looks like a key"),
        ("[providers.x.headers]\nA = 1", "no header"),
        ('[providers.x.headers]\nA = "b\\nc"', "no header"),
        ('[providers.x.request]\napi_key = "k"', "looks like a key"),
        ("[providers.x]\ncontext_window = 0", "context_window"),
        ('[providers.x]\nwire = "smtp"', "wire"),
        ('[providers.x]\nweb_search = "maybe"', "true or false"),
        ('thinking = "deeply"', "thinking"),
        ("providers = 1", "must be a table"),
        ("[providers]\nx = 1", "must be a table"),
    ],
)
def test_a_wrong_table_is_named_whichever_provider_is_chosen(
    home: Path, text: str, words: str
) -> None:
    """Unknown names, wrong kinds and anything that looks like a key are refused, unrepeated."""
    with pytest.raises(ConfigurationError, match=words) as caught:
        loaded(home, text, provider="demo")
    assert "Bearer k" not in caught.value.message


def test_setting_a_value_changes_its_line_and_nothing_else(home: Path) -> None:
    """Comments, order and other tables stay; a new value goes to the end of its table."""
    (home / FILE_NAME).write_text(FILE, encoding="utf-8")
    set_value(home, "model", 'quote " and \\ back')
    set_value(home, "max_turns", "12")
    set_value(home, "providers.openrouter.thinking", "off")
    set_value(home, "providers.custom.model", "m")
    set_value(home, "providers.llama.cpp.model", "tiny")
    changed = (home / FILE_NAME).read_text(encoding="utf-8")
    settings = load({"provider": "llama.cpp"}).settings
    assert (settings.model, settings.max_turns) == ("tiny", 12)
    assert load().settings.thinking == "off"
    assert load({"provider": "custom"}).settings.model == "m"
    kept = [line for line in FILE.splitlines() if "model" not in line and "thinking" not in line]
    assert [line for line in changed.splitlines() if line in kept and line] == [
        line for line in kept if line
    ]


def test_a_new_openai_configuration_says_its_wire(home: Path) -> None:
    """What is chosen today is written down, so that it is no older configuration tomorrow."""
    set_value(home, "provider", "openai")
    assert load().settings.wire == "responses"
    (home / FILE_NAME).write_text('provider = "openai"\n', encoding="utf-8")
    set_value(home, "provider", "openai")
    assert load().settings.wire == "chat"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("colour", "red", "unknown setting"),
        ("api_key", "sk-verysecret", "unknown setting"),
        ("wire", "smtp", "cannot be"),
        ("max_turns", "65", "at most 64"),
        ("groups", "x", "unknown setting"),
        ("groups.terminal", "true", "unknown setting"),
        ("context_window", "5", "belongs to one provider"),
        ("providers.x.device", "d", "unknown setting"),
        ("providers.a b.model", "m", "no name"),
    ],
)
def test_what_cannot_be_set_is_refused_and_the_file_untouched(
    home: Path, key: str, value: str, words: str
) -> None:
    """The same checks as when the file is read, before anything is written."""
    (home / FILE_NAME).write_text(FILE, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=words) as caught:
        set_value(home, key, value)
    assert "verysecret" not in caught.value.message + caught.value.advice
    assert (home / FILE_NAME).read_text(encoding="utf-8") == FILE


def test_a_file_that_spells_its_tables_otherwise_is_left_alone(home: Path) -> None:
    """When a line cannot be added without breaking the file, the user is told to do it."""
    odd = 'providers = {custom = {model = "a"}}\n'
    (home / FILE_NAME).write_text(odd, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be set in this file"):
        set_value(home, "providers.custom.model", "m")
    assert (home / FILE_NAME).read_text(encoding="utf-8") == odd
