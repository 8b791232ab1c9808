"""The known model servers as data; docs/providers.md shows this table and is checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bridge.providers.chat_quirks import (
    EXTRA_CONTENT,
    REASONING_CONTENT,
    REASONING_DETAILS,
    STRICT,
    ChatQuirks,
)
from device_tools.pictures import DEFAULT_RULE, PictureRule

CHAT = "chat"
RESPONSES = "responses"
ANTHROPIC = "anthropic"
WIRES = (CHAT, RESPONSES, ANTHROPIC)


@dataclass(frozen=True)
class ProviderProfile:
    """A server, or a kind of server.

    ``base_url`` "" = the user must name it; ``regions``: further base URLs of the same provider,
    which take the same keys. ``model`` None = the user must choose.
    ``key_variables``: where its key is looked for, the first that is set counts. ``wire`` is how
    new configurations talk to it; ``carrier`` how calls travel where nothing else is set.
    ``context_window`` in tokens, for models the catalogue does not have; None = unknown.
    ``image``: what its models see of a picture.

    ``quirks`` of its Chat Completions are always on. ``offered_quirks``: what the server
    is known to do, so the user may choose to accept it (``bridge.providers.wires``).
    """

    name: str
    title: str
    base_url: str
    key_variables: tuple[str, ...] = ()
    model: str | None = None
    wire: str = CHAT
    carrier: str = "ctl-heredoc"
    max_tokens_field: str = "max_tokens"
    context_window: int | None = None
    image: PictureRule = DEFAULT_RULE
    regions: tuple[str, ...] = ()
    offered_quirks: tuple[str, ...] = ()
    quirks: ChatQuirks = STRICT


_CLOUD = (
    ProviderProfile(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        ("OPENAI_API_KEY",),
        "gpt-5-mini",
        wire=RESPONSES,
        # its newer models refuse max_tokens
        max_tokens_field="max_completion_tokens",
        context_window=128_000,
        # 1536 patches of 32 x 32, or 2048 x 768 in tiles: the same area
        image=PictureRule(2048, 1_572_864),
    ),
    ProviderProfile(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        ("ANTHROPIC_API_KEY",),
        wire=ANTHROPIC,
        context_window=200_000,
        image=PictureRule(1568, 1_150_000),
    ),
    ProviderProfile(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        ("OPENROUTER_API_KEY",),
        offered_quirks=("stop-with-calls",),
        quirks=ChatQuirks(echo_fields=(REASONING_DETAILS,)),
    ),
    ProviderProfile(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/v1",
        ("DEEPSEEK_API_KEY",),
        "deepseek-chat",
        context_window=128_000,
        quirks=ChatQuirks(echo_fields=(REASONING_CONTENT,)),
    ),
    ProviderProfile(
        "qwen",
        "Qwen (DashScope, international)",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        ("DASHSCOPE_API_KEY",),
        regions=(
            "https://dashscope.aliyuncs.com/compatible-mode/v1",
            "https://dashscope-us.aliyuncs.com/compatible-mode/v1",
        ),
        context_window=131_072,
        image=PictureRule(1536, 1_003_520),
    ),
    ProviderProfile(
        "glm",
        "GLM (Z.ai)",
        "https://api.z.ai/api/paas/v4",
        ("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
        regions=("https://open.bigmodel.cn/api/paas/v4",),
        context_window=128_000,
    ),
    ProviderProfile(
        "kimi",
        "Kimi (Moonshot AI)",
        "https://api.moonshot.ai/v1",
        ("MOONSHOT_API_KEY",),
        regions=("https://api.moonshot.cn/v1",),
        context_window=262_144,
    ),
    ProviderProfile(
        "minimax",
        "MiniMax",
        "https://api.minimax.io/v1",
        ("MINIMAX_API_KEY",),
        regions=("https://api.minimaxi.com/v1",),
        context_window=196_608,
    ),
    ProviderProfile(
        "gemini",
        "Gemini (OpenAI-compatible endpoint)",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        context_window=200_000,
        image=PictureRule(1536),
        offered_quirks=("stop-with-calls",),
        quirks=ChatQuirks(echo_fields=(EXTRA_CONTENT,)),
    ),
)
_LOCAL = (
    ProviderProfile("ollama", "Ollama on this machine", "http://127.0.0.1:11434/v1"),
    # a llama-server has one model and ignores the name
    ProviderProfile(
        "llama.cpp", "llama-server on this machine", "http://127.0.0.1:8080/v1", model="default"
    ),
    ProviderProfile("lmstudio", "LM Studio on this machine", "http://127.0.0.1:1234/v1"),
    ProviderProfile(
        "vllm",
        "vLLM on this machine",
        "http://127.0.0.1:8000/v1",
        offered_quirks=("stop-with-calls",),
    ),
)
_OTHER = (
    ProviderProfile("demo", "built-in rule-based demo, no model", "", model="demo-rules"),
    # not knowing which server it is, whatever makes reading more lenient may be asked for
    ProviderProfile(
        "custom",
        "any other server",
        "",
        offered_quirks=("stop-with-calls", "comments-as-data"),
    ),
)
PROVIDERS: Mapping[str, ProviderProfile] = {
    profile.name: profile for profile in (*_OTHER, *_CLOUD, *_LOCAL)
}
