"""The summariser that needs no model: it picks the segments that carry most, in order, and says who said them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from langchain_core.messages import BaseMessage

from langchain_ctxcompress.summarize.cues import ERROR_SIGNS
from langchain_ctxcompress.summarize.salience import VALUE_KINDS, Unit, Vocabulary
from langchain_ctxcompress.summarize.selection import AGED_SHARES, SHARES, Candidate, rank, replaced_by_newer
from langchain_ctxcompress.summarize.sentences import Segment, one_line, split_segments
from langchain_ctxcompress.summarize.utterances import Utterance, Voice, utterances_of, utterances_of_summary
from langchain_ctxcompress.tokens import count_tokens

OMISSION = "…"

_SAID_ALREADY = 0.85
"""A segment is in the earlier summary if one line of it carries this part of its weight."""

_TOOL_LINES = 12
"""The most lines of one tool result that are looked at closely: its ends, errors, and values somebody named later."""

_TOOL_REACH = 400
"""How far before and after such a place a line is read, in characters: results can be one line of a megabyte."""


def extract_summary(
    messages: Sequence[BaseMessage],
    max_tokens: int,
    *,
    count: Callable[[str], int] = count_tokens,
    earlier: str = "",
) -> str:
    """Summarise a conversation without a model.

    Args:
        messages: Any messages, in order.
        max_tokens: The most tokens the summary may have, by `count`.
        count: Counts the tokens of a text.
        earlier: Text of the summaries before this one; what they say is not said again.

    Returns:
        Lines in conversation order, each opening with its speaker (`user: …`, `assistant: …`, `assistant called NAME:
        …`, `tool NAME: …`). A larger `max_tokens` never says less. `""` where there is no text or no room for any.
    """
    return _summarise(utterances_of(messages), max_tokens, count, SHARES, earlier)


def shorten_summary(text: str, max_tokens: int, *, count: Callable[[str], int] = count_tokens) -> str:
    """Shorten a summary: the user's rules and exact values stay longest.

    Args:
        text: A summary, of this module or of a model; each line counts as said by the speaker it opens with.
        max_tokens: The most tokens the result may have, by `count`.
        count: Counts the tokens of a text.

    Returns:
        The text itself where it fits, else lines of it in their order, long ones cut.
    """
    if count(text) <= max_tokens:
        return text
    return _summarise(utterances_of_summary(text), max_tokens, count, AGED_SHARES)


def _summarise(
    utterances: Sequence[Utterance],
    max_tokens: int,
    count: Callable[[str], int],
    shares: Mapping[Voice, float],
    earlier: str = "",
) -> str:
    if max_tokens <= 0 or not utterances:
        return ""
    vocabulary = Vocabulary()
    candidates = _candidates(utterances, vocabulary)
    done = replaced_by_newer(candidates, vocabulary)
    if earlier.strip():
        done |= _said_before(candidates, vocabulary, earlier)
    candidates = [candidate for index, candidate in enumerate(candidates) if index not in done]
    sizes = [len(utterance.text) for utterance in utterances]
    taken: list[Candidate] = []
    tokens = 0
    opened: set[int] = set()
    for candidate in rank(candidates, vocabulary, sizes, shares):
        tokens += count(candidate.segment.text) + 1
        if candidate.utterance not in opened:
            opened.add(candidate.utterance)
            tokens += count(utterances[candidate.utterance].speaker) + 1
        taken.append(candidate)
        if tokens > max_tokens:
            break
    # The parts may count a little less alone than together, so the front part is found by counting the whole. Going
    # down from a place that only grows with the budget keeps a larger budget from saying less.
    while taken:
        summary = _render(taken, utterances)
        if count(summary) <= max_tokens:
            return summary
        first = taken.pop()
        if not taken:
            return _cut_to_fit(_render([first], utterances), max_tokens, count)
    return ""


def _candidates(utterances: Sequence[Utterance], vocabulary: Vocabulary) -> list[Candidate]:
    """Every segment that may be taken, in order; of those said word for word again, the last.

    The vocabulary learns all of the conversation, tool results included.
    """
    named: dict[str, int] = {}
    units_of: list[set[Unit]] = []
    for index, utterance in enumerate(utterances):
        units = vocabulary.add((utterance.text, utterance.speaker) if utterance.voice == "call" else (utterance.text,))
        units_of.append(units)
        if utterance.voice != "tool":
            named.update((unit.key, index) for unit in units if unit.kind in VALUE_KINDS and len(unit.key) > 2)
    newest: dict[tuple[str, Voice, str], Candidate] = {}
    asked: frozenset[str] = frozenset()
    for index, utterance in enumerate(utterances):
        if utterance.voice == "assistant":
            asked = frozenset(unit.key for unit in units_of[index])
        if utterance.voice == "tool":
            keys = {unit.key for unit in units_of[index] if named.get(unit.key, -1) > index}
            segments = _tool_segments(utterance.text, keys, vocabulary)
        elif utterance.voice in ("call", "note"):
            text = one_line(utterance.text)
            segments = split_segments(text) if text else [Segment("", 0, 0)]
        else:
            segments = split_segments(utterance.text)
        for place, segment in enumerate(segments):
            shown = segment.quoted and utterance.voice == "user"
            voice: Voice = "quoted" if shown else utterance.voice
            echo = asked if voice == "user" else frozenset()
            again = (utterance.speaker, voice, segment.text.casefold())
            before = newest.pop(again, None)
            carried = _carried(utterance, segment.text, vocabulary) if before is None else before.units
            newest[again] = Candidate(index, place, segment, voice, carried, echo)
    return list(newest.values())


def _carried(utterance: Utterance, text: str, vocabulary: Vocabulary) -> dict[str, Unit]:
    """The units of a part of an utterance; which tool is called is part of what a call says."""
    return vocabulary.units(f"{text} {utterance.speaker}" if utterance.voice == "call" else text)


def _tool_segments(text: str, named: set[str], vocabulary: Vocabulary) -> list[Segment]:
    """What may be taken of a tool result: its first and last line, errors, and lines with values named later."""
    places = [len(text) - len(text.lstrip())]
    end = len(text.rstrip())
    places.append(max(text.rfind("\n", 0, end) + 1, 0))
    places.extend(match.start() for match, _ in zip(ERROR_SIGNS.finditer(text), range(_TOOL_LINES // 2), strict=False))
    lowered = text.lower()
    if len(lowered) == len(text):
        ranked = sorted(named, key=lambda key: (vocabulary.frequency(key), key))[:_TOOL_LINES]
        places.extend(place for place in map(lowered.find, ranked) if place >= 0)
    found: dict[int, Segment] = {}
    for place in sorted(set(places)):
        begin = max(text.rfind("\n", 0, place) + 1, place - _TOOL_REACH)
        stop = text.find("\n", place, place + _TOOL_REACH)
        stop = min(len(text), place + _TOOL_REACH) if stop < 0 else stop
        for segment in split_segments(text[begin:stop]):
            if segment.start <= place - begin < segment.end:
                found.setdefault(place, replace(segment, start=begin + segment.start, end=begin + segment.end))
    # two windows into one long line may cut it differently: what overlaps is taken once
    segments: list[Segment] = []
    for place in sorted(found, key=lambda place: found[place].start):
        if not segments or found[place].start >= segments[-1].end:
            segments.append(found[place])
    return segments


def _said_before(candidates: Sequence[Candidate], vocabulary: Vocabulary, earlier: str) -> set[int]:
    """Which candidates the earlier summary already says, in one line, with a value that no later line replaces."""
    lines = [
        Candidate(index, 0, Segment(line.text, 0, len(line.text)), line.voice, _carried(line, line.text, vocabulary))
        for index, line in enumerate(utterances_of_summary(earlier))
    ]
    outdated = replaced_by_newer(lines, vocabulary)
    by_unit: defaultdict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines):
        if index not in outdated:
            for key in line.units:
                by_unit[key].append(index)
    known: set[int] = set()
    for index, candidate in enumerate(candidates):
        weights = {key: vocabulary.weight(unit) for key, unit in candidate.units.items()}
        total = sum(weights.values())
        if not total:
            if candidate.segment.text in earlier:
                known.add(index)
            continue
        values = {key for key, unit in candidate.units.items() if unit.kind in VALUE_KINDS}
        rarest = max(weights, key=lambda key: (weights[key], key))
        for place in by_unit[rarest]:
            says = lines[place].units.keys()
            if values <= says and sum(weights[key] for key in weights.keys() & says) >= _SAID_ALREADY * total:
                known.add(index)
                break
    return known


def _render(taken: Sequence[Candidate], utterances: Sequence[Utterance]) -> str:
    """The taken segments as lines: one for each stretch of an utterance in one voice."""
    ordered = sorted(taken, key=lambda item: (item.utterance, item.segment.start))
    lines: list[str] = []
    for (index, _), stretch in groupby(ordered, key=lambda item: (item.utterance, item.voice)):
        utterance = utterances[index]
        parts: list[str] = []
        before: Candidate | None = None
        for candidate in stretch:
            parts.append(_opening(candidate, utterance) if before is None else "")
            parts.extend(_joined(before, candidate, utterance.text))
            before = candidate
        if before is not None and not before.segment.closes:
            parts.append(OMISSION)
        lines.append("".join(parts).rstrip())
    return "\n".join(lines)


def _opening(candidate: Candidate, utterance: Utterance) -> str:
    speaker = (
        f"{utterance.speaker} quoted"
        if candidate.voice == "quoted" and utterance.voice == "user"
        else utterance.speaker
    )
    return f"{speaker}: " if speaker else ""


def _joined(before: Candidate | None, candidate: Candidate, text: str) -> Iterator[str]:
    """The segment with what stands between it and the one before: a mark where something was left out."""
    segment = candidate.segment
    if before is None:
        if not segment.opens and not segment.text.startswith(OMISSION):
            yield OMISSION
    elif candidate.place != before.place + 1 or text[before.segment.end : segment.start].strip():
        yield f" {OMISSION} "
    elif before.segment.end < segment.start:
        yield " "
    yield segment.text


def _cut_to_fit(line: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """The longest front part of a line that fits with a mark of omission; `""` where none does."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if count(line[:middle].rstrip() + OMISSION) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return line[:low].rstrip() + OMISSION if low else ""
