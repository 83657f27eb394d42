"""What of a human message is the user's own word, cut into sentences.

People paste: code, logs, mails, files, pages. A rule inside a paste is not the user's word, so fenced, quoted,
tagged and announced blocks are left out before anything is read as an instruction. Every scan is a single pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from langchain_ctxcompress.ledger.boundaries import sentence_ends
from langchain_ctxcompress.ledger.words.any_of import any_of

_FENCE = re.compile(r"\s*(```+|~~~+)")
_OPEN_TAG = re.compile(r"<([A-Za-z][\w.-]{0,40})(?:\s[^<>]{0,300})?>")
_INLINE_TAG = re.compile(r"<([A-Za-z][\w.-]{0,40})(?:\s[^<>]{0,300})?>[^<>]{0,4000}</\1\s*>")
_CLOSE_TAG = re.compile(r"</([A-Za-z][\w.-]{0,40})\s*>")
_RULE_LINE = re.compile(r"\s*+([-=_*#~+])\1{2,}+[^\n]{0,80}$")
_RULE_SIGNS = "-=_#~+<>"
_MOST_LABEL = 81
"""Characters between the signs of a labelled rule."""

_BEGIN_LABEL = re.compile(
    r"(?=[abdis开開][enté始])\b(?:begin|start|anfang|début|ini(?:cio|zio)|início|[开開]始)\b", re.IGNORECASE
)
_MAIL_HEADER = re.compile(
    r"\s*(?:From|To|Cc|Bcc|Subject|Sent|Date|Reply-To|Von|An|Betreff|De|À|Objet|Para|Asunto)\s?:\s"
)
_CODE_LINE = re.compile(
    r"\s*+(?:\d{1,6}\s?[:|]|\$ |>>> |@@ |diff --|[+-]{3} [ab]/|def |class \w+[(:]|import \w|from \w[\w.]* import "
    r"|#include|#!|return\b|\}|\{|\]|//|/\*|\*/|Traceback|File \"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[[A-Z]{4,6}\]"
    r"|</?\w|[A-Z_]{3,}=|at [\w.$]+\()"
)
_TERMINAL = re.compile(r"\x1b|\[\d{1,2}(?:;\d{1,2})?m|[█▓▒░▏▎▍▌▋▊▉]")
_PROMPT = re.compile(r"[\w.@:~/()\[\] -]{0,80}[$#%>]")
_CODE_END = re.compile(r"(?:[{};\\]|=>|\)\s*:|\w\(\))\s*$")
_FILE_NAME = re.compile(r"(?:^|[\s`'\"(/\\])[\w.-]{1,80}\.[a-z]{1,6}\b|`[^`\n]{1,120}`|https?://", re.IGNORECASE)
_DOCUMENT_WORDS = """
    file readme document doc docs page log logs output e-mail email mail letter ticket issue article note_from text_of
    text_from transcript content contents excerpt snippet quote says said wrote reads writes sign banner
    datei dokument protokoll ausgabe schreibt fichier courriel sortie dit écrit archivo documento correo salida dice
    escribió testo scrive arquivo saída diz escreveu bestand uitvoer zegt schreef файл документ письмо лог пишет
"""
_FIRST, _SECOND = ("".join(sorted({word[place] for word in _DOCUMENT_WORDS.split()})) for place in (0, 1))
_DOCUMENT_WORD = re.compile(
    rf"(?=[{_FIRST}文邮日内フメロ資][{_SECOND}件档志容ァーグ料])"
    rf"(?:\b{any_of(word.replace('_', ' ') for word in _DOCUMENT_WORDS.split())}\b"
    r"|文[件档]|邮件|日志|内容|ファイル|メール|ログ|資料)",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\s*(?:[-*•·–‣]|\(?\d{1,3}[.)]|\(?[a-z][.)]|\[[ xX]\])\s+")
_HEADING = re.compile(r"\s*#{1,6}\s+\S")
_QUOTE_PAIRS = {'"': '"', "“": "”", "„": "“”", "«": "»", "»": "«", "「": "」", "『": "』", "‹": "›"}
_QUOTE_OPENS = re.compile(f"[{''.join(_QUOTE_PAIRS)}]")
_MAX_SENTENCE = 600
# A human message beyond this is a paste: what the user says about it stands before or after.
_HEAD = 24_000
_TAIL = 8_000


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the user.

    Attributes:
        text: Its words as written, white space folded.
        spoken: The same without long quoted spans: what the user says rather than quotes.
        intro: The line ending in a colon that introduces the list it stands in, or an empty string.
        bullet: Whether it is a list item.
    """

    text: str
    spoken: str
    intro: str
    bullet: bool


def own_lines(text: str) -> list[str]:
    """The lines of a human message that are the user's own words.

    Args:
        text: The message text.

    Returns:
        Its lines without fenced code, block quotes, tagged blocks, delimited or announced pastes, code and log lines.
        Blank lines stay, so that paragraphs can be told apart.
    """
    if len(text) > _HEAD + _TAIL:
        text = f"{text[:_HEAD]}\n{text[-_TAIL:]}"
    if _PROMPT.fullmatch(text[-82:].rstrip().rpartition("\n")[2]):
        return []  # it ends in a shell prompt: the output of a terminal, sent in the user's name
    lines = _outside_fences(_outside_tags(text).split("\n"))
    kept: list[str] = []
    in_delimited = False
    mail_headers = 0
    for index, line in enumerate(lines):
        if in_delimited:
            in_delimited = not _RULE_LINE.match(line)
            continue
        if _is_paste_delimiter(line, kept):
            in_delimited = True
            continue
        mail_headers = mail_headers + 1 if _MAIL_HEADER.match(line) else 0
        if mail_headers == 2:
            return kept[:-1]
        if line.lstrip().startswith(">") or _is_code(line):
            continue
        kept.append(line)
        if _announces_paste(line) and not _own_list_follows(lines, index + 1):
            break
    return kept


def _outside_fences(lines: list[str]) -> list[str]:
    """The lines that stand in no code fence; a fence that is never closed runs to the end."""
    kept: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            one_line = line.strip().count(mark[1]) > 1 and line.strip().endswith(mark[1])
            fence = "" if one_line else mark[1][:3]
        else:
            kept.append(line)
    return kept


def _outside_tags(text: str) -> str:
    """The text without what stands between an opening tag and its closing one."""
    if "</" not in text:
        return text
    text = _INLINE_TAG.sub(" ", text)
    closing = {match[1].lower() for match in _CLOSE_TAG.finditer(text)}
    kept: list[str] = []
    tag = ""
    for line in text.split("\n"):
        if tag:
            tag = "" if f"</{tag}" in line.lower() else tag
            continue
        opened = _OPEN_TAG.search(line)
        if opened and opened[1].lower() in closing:
            tag = opened[1].lower()
            kept.append(line[: opened.start()])
        else:
            kept.append(line)
    return "\n".join(kept)


def _is_paste_delimiter(line: str, before: list[str]) -> bool:
    if _is_labelled_rule(line) and not _BULLET.match(line):
        return bool(_BEGIN_LABEL.search(line) or _FILE_NAME.search(line) or _DOCUMENT_WORD.search(line))
    if not _RULE_LINE.match(line):
        return False
    last = next((seen for seen in reversed(before) if seen.strip()), "")
    return last.rstrip().endswith((":", "："))


def _is_labelled_rule(line: str) -> bool:
    """Three signs or more on both sides of a few words (`--- log ---`), or four of `<>=` before them.

    By hand: an expression for it tries every way to share the signs out, which is cubic in the length of a line.
    """
    line = line.strip()
    inner = line.lstrip(_RULE_SIGNS)
    front = len(line) - len(inner)
    if front == len(line):
        between = front > 6  # one of the signs is the label
    else:
        label = inner.rstrip(_RULE_SIGNS)
        back = len(inner) - len(label)
        label = label.strip()
        between = min(front, back) > 2 and (len(label) <= _MOST_LABEL if label else max(front, back) > 3)
    rest = line.lstrip("<>=")
    return between or (len(line) - len(rest) > 3 and len(rest) < _MOST_LABEL)


def _is_code(line: str) -> bool:
    if line.startswith(("    ", "\t")) and not _BULLET.match(line):
        return True
    return bool(
        _CODE_LINE.match(line)
        or _TERMINAL.search(line)
        or (_CODE_END.search(line[-80:]) and not line.rstrip().endswith("..."))
    )


def _announces_paste(line: str) -> bool:
    end = line.rstrip()
    return end.endswith((":", "：")) and bool(_FILE_NAME.search(end[-200:]) or _DOCUMENT_WORD.search(end[-200:]))


def _own_list_follows(lines: list[str], start: int) -> bool:
    following = next((line for line in lines[start : start + 4] if line.strip()), "")
    return bool(_BULLET.match(following)) and not _HEADING.match(following)


def sentences(text: str) -> list[Sentence]:
    """The user's own sentences in a human message.

    Args:
        text: The message text.

    Returns:
        The sentences in order. A sentence longer than 600 characters is cut there: nobody states a rule in that length.
    """
    found: list[Sentence] = []
    intro = ""
    paragraph: list[str] = []

    def flush() -> None:
        if paragraph:
            joined = " ".join(paragraph)
            found.extend(_sentence(part, "", bullet=False) for part in split_sentences(joined))
            paragraph.clear()

    for line in own_lines(text):
        stripped = line.strip()
        if not stripped or _HEADING.match(line):
            flush()
            if stripped:
                intro = stripped.lstrip("# ")
            continue
        bullet = _BULLET.match(line)
        if bullet:
            flush()
            body = line[bullet.end() :]
            found.extend(_sentence(part, intro, bullet=True) for part in split_sentences(body))
            continue
        if stripped.endswith((":", "：")):
            *said, announced = split_sentences(" ".join([*paragraph, stripped]))
            paragraph.clear()
            found.extend(_sentence(part, "", bullet=False) for part in said)
            intro = announced
            continue
        if paragraph and not stripped[:1].islower():
            flush()
        intro = ""
        paragraph.append(stripped)
    flush()
    return [sentence for sentence in found if any(char.isalnum() for char in sentence.text)]


def _sentence(text: str, intro: str, *, bullet: bool) -> Sentence:
    return Sentence(text, _without_quotes(text), intro, bullet)


def split_sentences(text: str) -> Iterator[str]:
    """Cut a text at the ends of its sentences: at marks followed by a space, never inside numbers, paths or names.

    Args:
        text: One line or paragraph.

    Yields:
        The sentences, white space folded, at most 600 characters each.
    """
    folded = " ".join(text.split())
    start = 0
    for end in (*sentence_ends(folded), len(folded)):
        piece = folded[start:end].strip()
        start = end
        if piece:
            yield piece[:_MAX_SENTENCE]


def _without_quotes(text: str) -> str:
    """A sentence without its quoted spans of three words or more, which are somebody else's words or a title."""
    out: list[str] = []
    position = 0
    while opener := _QUOTE_OPENS.search(text, position):
        at = opener.start()
        end = min((p for p in (text.find(closer, at + 1) for closer in _QUOTE_PAIRS[opener[0]]) if p > 0), default=-1)
        inside = text[at + 1 : end] if end > 0 else ""
        if inside.count(" ") >= 2 or (inside and len(inside) > 8 and not inside.isascii()):
            out += (text[position:at], " … ")
            position = end + 1
        else:
            out.append(text[position : at + 1])
            position = at + 1
    return "".join((*out, text[position:]))
