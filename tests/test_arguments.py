"""Arguments of the wrong kind: each public name refuses them with one error of this package, which names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage

import langchain_ctxcompress as ctx
from tests.history.test_history import ListHistory

TALK: list[BaseMessage] = [HumanMessage("hi", id="1"), AIMessage("hello", id="2")]
CONFIG = ctx.PrunerConfig.for_limit(4_000)
WINDOW = ctx.ContextWindow()
TURNS = ctx.split_turns(TALK)


def compressor() -> ctx.ContextCompressor:
    made = ctx.ContextCompressor(config=CONFIG, session_id="s")
    made.history().append(TALK)
    return made


def history() -> ctx.SessionHistory:
    return compressor().history()


def snapshots() -> ctx.SnapshotStore:
    return compressor().snapshots()


def active() -> ctx.ActiveContext:
    return ctx.ActiveContext(5_000)


def a_history_of_messages() -> ctx.CompressedChatMessageHistory:
    return ctx.CompressedChatMessageHistory(ListHistory(), compressor())


Call = Callable[[Any], object]

TEXTS: dict[str, Call] = {
    "text": ctx.count_tokens,
    "model": lambda wrong: ctx.count_tokens("a", model=wrong or 3),
    "text ": lambda wrong: ctx.truncate_to_tokens(wrong, 3),
    "text  ": ctx.estimate_tokens,
    "text   ": lambda wrong: ctx.apply_compressed_content(TALK[0], wrong),
    "content": lambda wrong: ctx.create_context_tier("a", wrong, 1),
    "system": lambda wrong: ctx.pack_messages(wrong, max_tokens=300),
    "name": lambda wrong: ctx.register_mode(wrong, "what it is about"),
    "focus": lambda wrong: ctx.register_mode("own", wrong),
    "name ": ctx.get_model_size,
    "session_id": lambda wrong: ctx.SessionHistory(None, session_id=wrong),
    "session_id ": lambda wrong: ctx.SnapshotStore(None, session_id=wrong),
    "checkpoint_id": lambda wrong: compressor().expand(wrong),
    "message_id": lambda wrong: compressor().expand_message(wrong),
    "instructions": lambda wrong: compressor().compress(TALK, instructions=wrong),
    "query": lambda wrong: history().search(wrong),
    "summary": ctx.parse_goal_markers,
    "system_prompt": lambda wrong: ctx.ActiveContext(5_000, system_prompt=wrong),
}

NUMBERS: dict[str, Call] = {
    "max_tokens": lambda wrong: ctx.truncate_to_tokens("a", wrong),
    "priority of tier 'a'": lambda wrong: ctx.create_context_tier("a", "b", wrong),
    "max_tokens ": lambda wrong: ctx.pack_context([], wrong),
    "max_tokens  ": lambda wrong: ctx.pack_messages("a", max_tokens=wrong),
    "min_tokens": lambda wrong: ctx.create_compression_tasks(TALK, TURNS, [], min_tokens=wrong),
    "system_tokens": lambda wrong: ctx.checkpoint_budget(ctx.PromptTier.BASIC, wrong),
    "limit": lambda wrong: ctx.should_compress(1, wrong, 2),
    "compressions": lambda wrong: ctx.calculate_reliability("llama3:8b", wrong),
    "window_tokens": ctx.PrunerConfig.for_window,
    "limit ": ctx.ActiveContext,
    "overhead_tokens": lambda wrong: compressor().compress(TALK, overhead_tokens=wrong),
    "overhead_tokens ": lambda wrong: ctx.CompressionNode(compressor(), overhead_tokens=wrong),
    "keep": lambda wrong: snapshots().cleanup(wrong),
    "limit  ": lambda wrong: history().search("hi", limit=wrong),
    "page": lambda wrong: list(history().iter(wrong)),
}

MESSAGES: dict[str, Call] = {
    "split_turns": lambda wrong: ctx.split_turns([wrong]),
    "ConversationTurn": lambda wrong: ctx.ConversationTurn([wrong]),
    "is_pinned": ctx.is_pinned,
    "pin": ctx.pin,
    "unpin": ctx.unpin,
    "extract_text_content": ctx.extract_text_content,
    "apply_compressed_content": lambda wrong: ctx.apply_compressed_content(wrong, "short"),
    "create_compression_tasks": lambda wrong: ctx.create_compression_tasks([wrong], TURNS, []),
    "apply_compression_results": lambda wrong: ctx.apply_compression_results([wrong], []),
    "compress_messages": lambda wrong: ctx.compress_messages([wrong]),
    "pack_messages": lambda wrong: ctx.pack_messages("a", recent=[wrong], max_tokens=300),
    "compress": lambda wrong: compressor().compress([wrong]),
    "plan": lambda wrong: compressor().plan([wrong]),
    "view": lambda wrong: compressor().view([wrong]),
    "count": lambda wrong: compressor().count([wrong]),
    "history": lambda wrong: history().append([wrong]),
    "snapshots": lambda wrong: snapshots().create([wrong]),
    "active": lambda wrong: active().add_message(wrong),
    "door": lambda wrong: a_history_of_messages().add_messages([wrong]),
}

LISTS: dict[str, Call] = {
    "split_turns": ctx.split_turns,
    "create_compression_tasks": lambda wrong: ctx.create_compression_tasks(wrong, TURNS, []),
    "apply_compression_results": lambda wrong: ctx.apply_compression_results(wrong, []),
    "compress_messages": ctx.compress_messages,
    "pack_messages": lambda wrong: ctx.pack_messages("a", recent=wrong, max_tokens=300),
    "compress": lambda wrong: compressor().compress(wrong),
    "plan": lambda wrong: compressor().plan(wrong),
    "view": lambda wrong: compressor().view(wrong),
    "count": lambda wrong: compressor().count(wrong),
    "history": lambda wrong: history().append(wrong),
    "snapshots": lambda wrong: snapshots().create(wrong),
    "active": lambda wrong: ctx.ActiveContext(5_000, messages=wrong),
    "door": lambda wrong: a_history_of_messages().add_messages(wrong),
}

OTHERS: dict[str, Call] = {
    "window is": lambda wrong: ctx.classify_prune_urgency(wrong, CONFIG),
    "config is": lambda wrong: ctx.classify_prune_urgency(WINDOW, wrong),
    "window  is": lambda wrong: ctx.should_trigger_soft_prune(wrong, CONFIG),
    "config  is": lambda wrong: ctx.should_trigger_hard_prune(WINDOW, wrong),
    "window   is": lambda wrong: ctx.select_turns_for_summarization(wrong, CONFIG),
    "item 0 of turns is": lambda wrong: ctx.ContextWindow([wrong]),
    "tiers is": lambda wrong: ctx.pack_context(wrong, 3),
    "item 0 of tiers is": lambda wrong: ctx.compress_to_fit([wrong], 3),
    "tier is": lambda wrong: ctx.checkpoint_budget(wrong, 3),
    "turns is": lambda wrong: ctx.map_turns_to_bands(wrong, []),
    "bands is": lambda wrong: ctx.map_turns_to_bands([], wrong),
    "mapping is": lambda wrong: ctx.create_compression_tasks(TALK, TURNS, wrong),
    "one of results is": lambda wrong: ctx.apply_compression_results(TALK, [wrong]),
    "cooldown is": lambda wrong: ctx.ContextCompressor(config=CONFIG, cooldown=wrong or 3),
    "redact is": lambda wrong: ctx.ContextCompressor(config=CONFIG, redact=wrong or 3),
    "on_event is": lambda wrong: ctx.ContextCompressor(config=CONFIG, on_event=wrong or 3),
    "config    is": lambda wrong: compressor().compress(TALK, config=wrong or 3),
    "agent is": lambda wrong: compressor().plan(TALK, agent=wrong or 3),
    "store is": lambda wrong: compressor().plan(TALK, store=wrong or 3),
    "goal is": lambda wrong: ctx.update_goal(wrong, ctx.parse_goal_markers("")),
    "updates is": lambda wrong: ctx.update_goal(ctx.Goal(description="Ship it."), wrong),
    "checkpoint is": lambda wrong: active().add_checkpoint(wrong),
    "item 0 of checkpoints is": lambda wrong: snapshots().create(TALK, [wrong]),
    "goal 0 is": lambda wrong: snapshots().create(TALK, goals=[wrong]),
    "older_than is": lambda wrong: snapshots().cleanup(0, wrong or 3),
    "message_ids is": lambda wrong: compressor().forget_messages(wrong),
    "item 0 of message_ids is": lambda wrong: compressor().forget_messages([wrong]),
    "ids is": lambda wrong: active().remove_messages(wrong),
}


def named(table: dict[str, Call]) -> list[Any]:
    return [pytest.param(call, " ".join(name.split()), id=name) for name, call in table.items()]


@pytest.mark.parametrize(("call", "name"), named(TEXTS))
@pytest.mark.parametrize("wrong", [None, 3, b"bytes"])
def test_what_has_to_be_a_text(call: Call, name: str, wrong: Any) -> None:
    with pytest.raises(ctx.ConfigError, match=rf"^{name} is .*: it must be a str$"):
        call(wrong)


@pytest.mark.parametrize(("call", "name"), named(NUMBERS))
@pytest.mark.parametrize("wrong", [None, "3", [3]])
def test_what_has_to_be_a_number(call: Call, name: str, wrong: Any) -> None:
    with pytest.raises(ctx.ConfigError, match=rf"^{name} is .*: it must be a number$"):
        call(wrong)


@pytest.mark.parametrize(("call", "name"), named(NUMBERS))
def test_what_must_not_be_negative(call: Call, name: str) -> None:
    with pytest.raises(ctx.ConfigError, match=rf"^{name} is -1: it must be [012] or more"):
        call(-1)


@pytest.mark.parametrize(("call", "name"), named(MESSAGES))
@pytest.mark.parametrize("wrong", [None, 3, "hi", {"role": "user"}])
def test_what_has_to_be_a_message(call: Call, name: str, wrong: Any) -> None:
    with pytest.raises(ctx.CtxCompressError, match=type(wrong).__name__) as caught:
        call(wrong)
    assert "LangChain message" in str(caught.value)


@pytest.mark.parametrize(("call", "name"), named(LISTS))
@pytest.mark.parametrize("wrong", [None, 3, "hi", {"role": "user"}])
def test_what_has_to_be_a_list_of_messages(call: Call, name: str, wrong: Any) -> None:
    with pytest.raises(ctx.CtxCompressError, match=rf"is a {type(wrong).__name__}: pass a list of LangChain messages"):
        call(wrong)


@pytest.mark.parametrize(("call", "name"), named(OTHERS))
@pytest.mark.parametrize("wrong", [None, 3])
def test_what_has_to_be_of_another_kind(call: Call, name: str, wrong: Any) -> None:
    with pytest.raises(ctx.ConfigError, match=rf"^{name} (None|3): it must be "):
        call(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda: compressor().forget_messages("1"),
        lambda: history().forget_messages("1"),
        lambda: history().get("1"),
        lambda: active().remove_messages("1"),
        lambda: ctx.pack_messages("a", summaries="not a list", max_tokens=300),
    ],
)
def test_a_text_is_not_taken_for_a_list_of_its_letters(call: Callable[[], object]) -> None:
    with pytest.raises(ctx.ConfigError, match="is one text: it must be a list"):
        call()


def test_what_is_to_be_done_about_damage_is_one_of_two_things() -> None:
    with pytest.raises(ctx.ConfigError, match="on_damage is 'ignore': it must be one of raise, skip"):
        history().messages(on_damage="ignore")  # type: ignore[arg-type]


def test_a_removal_in_a_plain_list_is_explained() -> None:
    with pytest.raises(ctx.CtxCompressError, match=r"item 2 of messages is a RemoveMessage, .* leave that message out"):
        compressor().compress([*TALK, RemoveMessage(id="1")])


def test_a_store_that_is_none_leaves_the_compressor_as_it_was() -> None:
    made = compressor()
    with pytest.raises(ctx.ConfigError, match="store is a str: it must be a LangGraph store"):
        made.compress(TALK, store="archive.db")  # type: ignore[arg-type]
    assert made.expand_message("1") == TALK[0]
