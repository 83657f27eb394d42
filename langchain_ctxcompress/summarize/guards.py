"""What makes a model's answer usable as a summary, and what an overflow looks like (law 3).

An answer is never rejected over its headings or its wording: only when it is empty, cut off, or a refusal. Whether it
is smaller than what it replaces is for the strategy to say, which has counted both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from langchain_ctxcompress.messages import extract_text_content
from langchain_ctxcompress.summarize.sentences import clean_text
from langchain_ctxcompress.summarize.tasks import TaskFailure

_END_KEYS = frozenset(
    {
        "finish_reason",
        "stop_reason",
        "done_reason",
        "completion_reason",
        "finishreason",
        "stopreason",
        "completionreason",
        "status",
        "incomplete_details",
        "reason",
        "native_finish_reason",
    }
)
"""Where providers say why an answer ended: OpenAI, Groq and Gemini `finish_reason`, Anthropic and Bedrock `stop_reason`
and `stopReason`, Ollama `done_reason`, OpenAI's Responses API `status` and `incomplete_details.reason`."""

_CUT_OFF = re.compile(r"length|max_?(output_?|new_?)?tokens?|token_?limit|incomplete|truncat|context_window")
_REFUSED = re.compile(r"content_?filter|refusal|safety|blocklist|prohibited|recitation|guardrail|spii")
_REFUSAL_TEXT = re.compile(
    r"\s*+(?:i['’]?m sorry|i am sorry|sorry|i apologi[sz]e|unfortunately)?[,.]?\s*+(?:but )?(?:as an ai\b.{0,40})?"
    r"i (?:can(?:no|['’])t|am (?:not able|unable)|won['’]t|must decline)"
    r" (?:to )?(?:help|assist|comply|do that|fulfil|provide|summari[sz]e|process)",
    re.IGNORECASE,
)
_REFUSAL_ELSEWHERE = re.compile(
    r"\s*+(?:(?:es )?tut mir leid|leider|(?:je suis )?désolée?|malheureusement|lo siento|lamentablemente|mi dispiace"
    r"|purtroppo|desculpe|sinto muito|infelizmente|извините|простите|к сожалению)\b[^.!?\n]{0,40}"
    r"\b(?:kann ich|ich kann|je ne peux|no puedo|non posso|não posso|не могу|не можем)\b"
    r"|\s*+(?:申し訳|抱歉|对不起|對不起|很遗憾|죄송)",
    re.IGNORECASE,
)
_ERROR_TEXT = re.compile(r"\W*+(?:http )?error\b[^\n]{0,40}\b[45]\d\d\b", re.IGNORECASE)
"""What some gateways answer with the code 200: `Error: 429 rate limit exceeded`."""

_SAYS_NOTHING = re.compile(r"[\W\d_]*+(?:null|none|undefined|nan)?[\W\d_]*+", re.IGNORECASE)
"""`{}`, `null`, `...`: no word."""

_REFUSAL_CHARS = 400
"""A refusal is short; a long text that begins like one is a summary that quotes one."""

_OVERFLOW = re.compile(
    r"(?=[cmprite][aenorx][cdknopqsx])(?:context[ _]length|context[ _]window|context size|maximum context"
    r"|max(?:imum)? (?:input|prompt) (?:length|tokens)"
    r"|(?:prompt|input|request|conversation|messages?)[^.\n]{0,40} (?:is |are )?too (?:long|large)"
    r"|too many (?:input )?tokens"
    r"|maximum model length|request_too_large|inputs`? tokens \+"
    r"|token (?:count|limit)[^.\n]{0,60}exceed|exceed[^.\n]{0,60}(?:token|context)|reduce the length)",
    re.IGNORECASE,
)
_OVERFLOW_CHARS = 4_000
"""How much of an error is searched: some quote the whole prompt."""

_THINKING_STARTS = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THINKING_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def judge_reply(reply: BaseMessage) -> tuple[str, TaskFailure | None]:
    """The text of an answer, and why it cannot be used.

    Args:
        reply: What the model answered, as text or as content blocks.

    Returns:
        The text without reasoning, and `None` or the failure.
    """
    ends = " ".join(_ends(reply.response_metadata))
    text = _without_thinking(clean_text(extract_text_content(reply))).strip()
    if _is_refusal(reply, ends, text):
        return text, TaskFailure.REFUSAL
    if _CUT_OFF.search(ends) or _THINKING_STARTS.match(text):  # it thought aloud until it was stopped
        return text, TaskFailure.INCOMPLETE
    if _SAYS_NOTHING.fullmatch(text):
        return "", TaskFailure.EMPTY
    if len(text) <= _REFUSAL_CHARS and _ERROR_TEXT.match(text):
        return text, TaskFailure.ERROR
    return text, None


def is_overflow(error: BaseException) -> bool:
    """Whether an error says that the prompt was larger than the model's window.

    Some packages raise `ContextOverflowError`; OpenAI-compatible servers answer 400, 413 or 429 with a message only.
    """
    from langchain_core.exceptions import ContextOverflowError

    return isinstance(error, ContextOverflowError) or bool(_OVERFLOW.search(str(error)[:_OVERFLOW_CHARS]))


def _ends(metadata: Mapping[str, Any]) -> Iterator[str]:
    for key, value in metadata.items():
        if str(key).lower() in _END_KEYS:
            if isinstance(value, Mapping):
                yield from _ends(value)
            elif value is not None:
                yield str(value).lower()


def _is_refusal(reply: BaseMessage, ends: str, text: str) -> bool:
    if _REFUSED.search(ends) or reply.additional_kwargs.get("refusal"):
        return True
    if isinstance(reply.content, list) and any(
        isinstance(block, dict) and block.get("type") == "refusal" for block in reply.content
    ):
        return True
    if len(text) > _REFUSAL_CHARS:
        return False
    return bool(_REFUSAL_TEXT.match(text) or _REFUSAL_ELSEWHERE.match(text))


def _without_thinking(text: str) -> str:
    """The text without what local models think aloud in it."""
    parts: list[str] = []
    at = 0
    for start in _THINKING_STARTS.finditer(text):
        if start.start() < at:
            continue
        end = _THINKING_ENDS.search(text, start.end())
        if end is None:
            break
        parts.append(text[at : start.start()])
        at = end.end()
    return "".join((*parts, text[at:]))


def usage_of(reply: BaseMessage) -> tuple[int, int, int]:
    """The tokens that the model says it read, wrote, and read from its cache; zeros where it does not say."""
    usage = reply.usage_metadata if isinstance(reply, AIMessage) else None
    if not usage:
        return 0, 0, 0
    cached = (usage.get("input_token_details") or {}).get("cache_read") or 0
    return usage.get("input_tokens", 0), usage.get("output_tokens", 0), cached
