"""Law 3's guards, by the words of each provider, and what an overflow looks like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, HumanMessage

from langchain_ctxcompress.summarize import TaskFailure, is_overflow, judge_reply
from langchain_ctxcompress.summarize.guards import usage_of

COMPLETE: list[dict[str, Any]] = [
    {},
    {"finish_reason": "stop"},  # OpenAI, Groq, vLLM
    {"finish_reason": "STOP"},  # Gemini
    {"finish_reason": "eos_token"},  # Hugging Face
    {"finish_reason": None},
    {"stop_reason": "end_turn", "stop_sequence": None},  # Anthropic
    {"stop_reason": "stop_sequence"},
    {"stopReason": "end_turn"},  # Bedrock's Converse
    {"completionReason": "FINISH"},  # Titan
    {"done_reason": "stop", "done": True},  # Ollama
    {"status": "completed", "incomplete_details": None},  # OpenAI's Responses API
    {"finish_reason": "stop", "native_finish_reason": "stop"},  # OpenRouter
    {"model": "length-7b", "max_tokens": 100, "system_fingerprint": "fp_length"},  # what is no end
    {"finish_reason": "tool_calls"},
]
CUT_OFF: list[dict[str, Any]] = [
    {"finish_reason": "length"},
    {"finish_reason": "LENGTH"},
    {"finish_reason": "MAX_TOKENS"},
    {"finish_reason": "max_new_tokens"},
    {"finish_reason": "model_length"},  # Mistral
    {"stop_reason": "max_tokens"},
    {"stop_reason": "model_context_window_exceeded"},
    {"stopReason": "max_tokens"},
    {"completionReason": "LENGTH"},
    {"done_reason": "length"},
    {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    {"incomplete_details": {"reason": "max_output_tokens"}},
    {"finish_reason": "stop", "native_finish_reason": "MAX_TOKENS"},
]
REFUSED: list[dict[str, Any]] = [
    {"finish_reason": "content_filter"},
    {"stop_reason": "refusal"},
    {"stopReason": "guardrail_intervened"},
    {"stopReason": "content_filtered"},
    {"finish_reason": "SAFETY"},
    {"finish_reason": "PROHIBITED_CONTENT"},
    {"finish_reason": "BLOCKLIST"},
    {"finish_reason": "RECITATION"},
    {"finish_reason": "SPII"},
    {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
    {"completionReason": "CONTENT_FILTERED"},
]


def said(text: Any = "The order was refunded.", **extra: Any) -> AIMessage:
    return AIMessage(text, **extra)


@pytest.mark.parametrize("metadata", COMPLETE, ids=repr)
def test_a_whole_answer_is_taken(metadata: dict[str, Any]) -> None:
    assert judge_reply(said(response_metadata=metadata)) == ("The order was refunded.", None)


@pytest.mark.parametrize("metadata", CUT_OFF, ids=repr)
def test_an_answer_cut_off_by_the_length_limit_is_incomplete(metadata: dict[str, Any]) -> None:
    assert judge_reply(said(response_metadata=metadata))[1] is TaskFailure.INCOMPLETE


@pytest.mark.parametrize("metadata", REFUSED, ids=repr)
def test_a_filtered_answer_is_a_refusal(metadata: dict[str, Any]) -> None:
    assert judge_reply(said(response_metadata=metadata))[1] is TaskFailure.REFUSAL


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, I can’t assist with this request.",
        "I cannot comply with this request.",
        "Sorry, I am unable to process this content.",
        "Unfortunately, I won't summarize this.",
        "I apologise, but I must decline to provide that.",
        "As an AI language model, I cannot help with that.",
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "Désolé, je ne peux pas traiter ce texte.",
        "Lo siento, no puedo ayudar con eso.",
        "申し訳ありませんが、お手伝いできません。",
        "抱歉，我无法总结这段内容。",
    ],
)
def test_a_refusal_in_words(text: str) -> None:
    assert judge_reply(said(text))[1] is TaskFailure.REFUSAL


@pytest.mark.parametrize(
    "text",
    [
        "The user asked for a refund; the agent said: I cannot help with that.",
        "I cannot help with that, said the agent. " + "Then the refund was granted. " * 30,
        "user: I can't help my sister move on Friday\nassistant: offered Saturday",
        "Sorry for the delay was said to user 42.",
        "The refusal of payment was noted.",
        "Leider war der Zug zu spät; user 42 bekam einen Gutschein, und ich kann ihn nun ausstellen.",
        "Errors were found in build 42 and mended.",
    ],
)
def test_what_only_quotes_a_refusal_is_none(text: str) -> None:
    assert judge_reply(said(text))[1] is None


def test_refusals_beside_the_text() -> None:
    assert judge_reply(said("", additional_kwargs={"refusal": "No."}))[1] is TaskFailure.REFUSAL
    assert judge_reply(said([{"type": "refusal", "refusal": "No."}]))[1] is TaskFailure.REFUSAL


@pytest.mark.parametrize(
    "content",
    [
        "",
        "  \n",
        [],
        [{"type": "text", "text": " "}],
        [{"type": "thinking", "thinking": "…"}],
        "<think>hm</think>\n",
        "{}",
        "null",
        "...",
        "[ ]",
    ],
)
def test_nothing_to_read_is_empty(content: Any) -> None:
    assert judge_reply(said(content)) == ("", TaskFailure.EMPTY)


def test_thinking_without_an_end_is_incomplete() -> None:
    assert judge_reply(said("<think>let me see"))[1] is TaskFailure.INCOMPLETE


def test_an_error_that_is_answered_as_text_is_an_error() -> None:
    assert judge_reply(said("Error: 429 rate limit exceeded"))[1] is TaskFailure.ERROR


def test_what_no_client_can_send_is_left_out() -> None:
    text, failure = judge_reply(said("They spoke\ud800 of two orders.\x00"))
    assert (text, failure) == ("They spoke  of two orders.", None)


def test_a_call_instead_of_an_answer_is_empty() -> None:
    assert judge_reply(said("", tool_calls=[{"name": "f", "args": {}, "id": "c"}]))[1] is TaskFailure.EMPTY


def test_blocks_and_thoughts() -> None:
    blocks = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "One."},
        {"type": "text", "text": "Two."},
    ]
    assert judge_reply(said(blocks)) == ("One.\nTwo.", None)
    assert judge_reply(said("<think>a\nb</think>\nOne.<THINKING>c</THINKING> Two.")) == ("One. Two.", None)
    assert judge_reply(said("<think>a <think>b</think>One.")) == ("One.", None)


@given(st.text(), st.dictionaries(st.text(), st.one_of(st.none(), st.text(), st.integers(), st.lists(st.text()))))
def test_any_answer_is_judged(text: str, metadata: dict[str, Any]) -> None:
    verdict, failure = judge_reply(said(text, response_metadata=metadata))
    assert (failure is not None) or verdict.strip()


OVERFLOWS = [
    # OpenAI
    "Error code: 400 - {'error': {'message': \"This model's maximum context length is 128000 tokens. However, your "
    "messages resulted in 130023 tokens. Please reduce the length of the messages.\", 'code': "
    "'context_length_exceeded'}}",
    "Error code: 400 - {'error': {'message': 'Your input exceeds the context window of this model. Please adjust your "
    "input and try again.', 'type': 'invalid_request_error', 'param': 'input', 'code': 'context_length_exceeded'}}",
    "Error code: 429 - {'error': {'message': 'Request too large for gpt-4o in organization org-x on tokens per min "
    "(TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully.'}}",
    # Anthropic
    "Error code: 400 - {'type': 'error', 'error': {'type': 'invalid_request_error', 'message': 'prompt is too long: "
    "210000 tokens > 200000 maximum'}}",
    "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000, decrease input length",
    "Error code: 413 - {'error': {'type': 'request_too_large', 'message': 'Request exceeds the maximum size'}}",
    # Gemini
    "400 INVALID_ARGUMENT. {'error': {'message': 'The input token count (1100000) exceeds the maximum number of tokens "
    "allowed (1048576).'}}",
    # Bedrock
    "An error occurred (ValidationException) when calling the Converse operation: The model returned the following "
    "errors: Input is too long for requested model.",
    "ValidationException: Too many input tokens. Max input tokens: 8192, request input token count: 9000",
    # vLLM
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens in the messages.",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    # llama.cpp
    "the request exceeds the available context size. try increasing the context size or enable context shift",
    "exceed_context_size_error: request (5000 tokens) exceeds the available context size (4096 tokens)",
    # Ollama
    "the input length exceeds the context length (status code: 400)",
    # Mistral, Groq, OpenRouter, Azure
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
    # Cohere, Together
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens",
]
ORDINARY = [
    "",
    "Connection reset by peer",
    "Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-...'}}",
    "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o on requests per min (RPM): Limit 500'}}",
    "Error code: 429 - You exceeded your current quota, please check your plan and billing details.",
    "Error code: 404 - The model `gpt-9` does not exist or you do not have access to it.",
    "Error code: 500 - The server had an error while processing your request.",
    "overloaded_error: Overloaded",
    "Request timed out.",
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
    "ThrottlingException: Too many requests, please wait before trying again.",
    "'choices'",
    "[Errno 36] File name too long",
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64",
    "maximum recursion depth exceeded",
    "Error code: 400 - invalid token in JSON at position 3",
]


@pytest.mark.parametrize("text", OVERFLOWS, ids=lambda text: text[:40])
def test_an_overflow_is_seen_in_each_provider_s_words(text: str) -> None:
    assert is_overflow(ValueError(text))


@pytest.mark.parametrize("text", ORDINARY, ids=lambda text: text[:40])
def test_an_ordinary_error_is_no_overflow(text: str) -> None:
    assert not is_overflow(RuntimeError(text))


def test_the_error_made_for_it_is_an_overflow_whatever_it_says() -> None:
    assert is_overflow(ContextOverflowError(""))
    assert not is_overflow(KeyboardInterrupt())


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "prompt " * 300_000,
        "token count " * 200_000,
        "exceed " * 300_000,
        "input" + " " * 1_000_000,
        "max input " * 200_000,
        "<think>" * 200_000,
        "i'm sorry, but as an ai" + " " * 1_000_000,
        "sorry" * 200_000,
        "as an ai " * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_adversarial_texts_take_linear_time(text: str) -> None:
    assert not is_overflow(ValueError(text))
    expected = TaskFailure.INCOMPLETE if text.startswith("<think>") else None
    assert judge_reply(said(text))[1] is expected
    assert judge_reply(said("ok", response_metadata={"finish_reason": text}))[0] == "ok"


def test_usage_is_read_where_it_is_given() -> None:
    usage = {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}
    assert usage_of(said(usage_metadata=usage)) == (12, 3, 0)
    assert usage_of(said(usage_metadata={**usage, "input_token_details": {"cache_read": 7}})) == (12, 3, 7)
    assert usage_of(said()) == (0, 0, 0)
    assert usage_of(HumanMessage("no answer of a model")) == (0, 0, 0)
