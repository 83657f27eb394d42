"""The user's tasks in the demo session, and what the scripted agent does for each.

Between the tasks stand what real users say: rules for the whole session, facts they want kept, figures that change,
questions that go back to the start, a change of language. Each answer is computed from the output of the tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from langchain_ctxcompress.demo.script import Hit, SessionScript, bullets, hits_of

ROUND_TRIP_PROGRAM = """\
import json, math
print(json.dumps([float("nan"), float("inf"), -float("inf")]))
print([math.isnan(x) for x in json.loads("[NaN, 1.5, Infinity]")])
try:
    json.dumps(float("nan"), allow_nan=False)
except ValueError as error:
    print("ValueError:", error)
"""

CIRCULAR_PROGRAM = """\
import json
loop = []
loop.append(loop)
for check in (True, False):
    try:
        json.dumps(loop, check_circular=check)
    except (ValueError, RecursionError) as error:
        print(check, type(error).__name__, error)
"""

MISSING_SECTION_PROGRAM = """\
import configparser
parser = configparser.ConfigParser()
parser.read_string("[server]\\nport = 8080\\n")
for section, option in (("server", "host"), ("client", "port")):
    try:
        parser.get(section, option)
    except configparser.Error as error:
        print(type(error).__name__, "-", error)
print(parser.get("client", "port", fallback="9090"))
"""

SNIFFER_PROGRAM = """\
import csv
for sample in ("a;b;c\\n1;2;3\\n4;5;6\\n", "a\\tb\\n1\\t2\\n", "name,amount\\nx,1\\ny,2\\n", ""):
    try:
        print(repr(csv.Sniffer().sniff(sample).delimiter), csv.Sniffer().has_header(sample))
    except csv.Error as error:
        print("csv.Error:", error)
"""

HEAP_PROGRAM = """\
import heapq
state, mixed = 12345, []
for _ in range(2000):
    state = (state * 1103515245 + 12345) % 2**31
    mixed.append(state)
heap = list(mixed)
heapq.heapify(heap)
print(all(heap[i] <= heap[child] for i in range(len(heap)) for child in (2 * i + 1, 2 * i + 2) if child < len(heap)))
print([heapq.heappop(heap) for _ in range(2000)] == sorted(mixed), heapq.nsmallest(3, mixed) == sorted(mixed)[:3])
"""

SHELL_PROGRAM = """\
import shlex
for text in ("cp 'a file' b", 'echo "x\\\\"y"', "a#b c", "it's open"):
    try:
        print(shlex.split(text), "|", shlex.join(shlex.split(text)))
    except ValueError as error:
        print("ValueError:", error)
"""

WRAP_PROGRAM = """\
import textwrap
text = "Der schnelle braune Fuchs springt über den Donaudampfschifffahrtskapitän und ist weg."
for width in (20, 30):
    print([len(line) for line in textwrap.wrap(text, width)], max(map(len, textwrap.wrap(text, width))) <= width)
print(textwrap.shorten(text, 40, placeholder=" …"))
"""

QUEUE_PROGRAM = """\
import asyncio
async def main():
    queue = asyncio.Queue(maxsize=2)
    queue.put_nowait(1); queue.put_nowait(2)
    for action in (lambda: queue.put_nowait(3), lambda: [queue.get_nowait() for _ in range(3)]):
        try:
            action()
        except (asyncio.QueueFull, asyncio.QueueEmpty) as error:
            print(type(error).__name__, queue.qsize())
asyncio.run(main())
"""


def start(script: SessionScript) -> None:
    """The rules and figures of the session, and a first look around."""
    script.human(
        "I maintain an internal fork of the standard library and need a review before we rebase; the ticket is "
        "LIB-20417. Rules for everything you tell me: always answer with file:line, never propose to change a public "
        "signature, and do not edit any file. The budget is 38 hours. Start with an overview of the json package."
    )
    (listing,) = script.use(("list_files", {"folder": "json"}), thought="I look at what there is first.")
    paths = [line.split()[0] for line in listing.splitlines()]
    counts = script.use(*(("count_lines", {"path": path}) for path in paths))
    total = sum(int(match[1]) for count in counts if (match := re.search(r"(?<!\d)(\d+) lines", count)))
    script.answer(
        f"json has {len(paths)} files with {total} lines for LIB-20417:\n" + "\n".join(f"- {c}" for c in counts)
    )
    script.notes["overview"] = f"json: {len(paths)} files, {total} lines"


def not_a_number(script: SessionScript) -> None:
    """Where json handles NaN: search, read around, try it out."""
    script.human("Find every place where json handles NaN, and tell me which of them decide what is written or read.")
    (found,) = script.use(("search", {"pattern": r"\bNaN\b|allow_nan", "where": "json"}))
    hits = hits_of(found)
    deciding = [hit for hit in hits if re.search(r"=|\bif\b|return|:\s*NaN", hit.text) and "``" not in hit.text]
    per_file: dict[str, list[Hit]] = {}
    for hit in deciding:
        per_file.setdefault(hit.path, []).append(hit)
    script.use(
        *(
            ("read_file", {"path": path, "first": max(1, group[0].line - 10), "last": group[0].line + 25})
            for path, group in per_file.items()
        ),
        thought=f"{len(hits)} lines in all. I read around the first of each file.",
    )
    (run,) = script.use(("run_python", {"code": ROUND_TRIP_PROGRAM}), thought="And see what it really does.")
    script.answer(
        f"NaN is named on {len(hits)} lines; {len(deciding)} of them are code that decides:\n{bullets(deciding, 20)}\n"
        f"A run confirms it:\n{run}"
    )
    script.notes["nan"] = ", ".join(hit.place for hit in deciding)
    script.human("Which lines hold the default allow_nan=True? Only list them, I decide later.")
    (defaults,) = script.use(("search", {"pattern": r"allow_nan=True", "where": "json"}))
    script.answer(f"The default stands on these lines; nothing was changed:\n{bullets(hits_of(defaults))}")


def circular(script: SessionScript) -> None:
    """A whole file, page by page."""
    script.human("Now read json/encoder.py from the first to the last line. Where does it guard against circular data?")
    script.use(("outline", {"path": "json/encoder.py"}))
    guards = script.read_through("json/encoder.py", watch_for=r"markers", thought="I read it in pages.")
    (run,) = script.use(("run_python", {"code": CIRCULAR_PROGRAM}))
    script.answer(
        f"The guard is the dict `markers`, on {len(guards)} lines:\n{bullets(guards)}\nWithout and with it:\n{run}"
    )
    script.notes["markers"] = guards[0].place


def order_facts(script: SessionScript) -> None:
    """Facts of the user that no tool knows."""
    script.human(
        "For your notes: the customer behind this is order ORD-7731-KX, agreed price 4,250.00 EUR, to be delivered by "
        "2027-03-19 to review@fork.example. The invoice must quote the order id. No work needed now."
    )
    script.answer("Noted: order ORD-7731-KX, 4,250.00 EUR, due 2027-03-19, to review@fork.example, id on the invoice.")


def missing_file(script: SessionScript) -> None:
    """A path that does not exist: the tool fails, the agent finds the right one."""
    script.human("Then json/parser.py, please: how are numbers recognised?")
    (failure,) = script.use(("read_file", {"path": "json/parser.py"}))
    (found,) = script.use(
        ("search", {"pattern": r"NUMBER_RE|parse_float|parse_int", "where": "json"}),
        thought=f"The tool says `{failure}`. I search for the code instead.",
    )
    script.use(("read_file", {"path": "json/scanner.py"}))
    numbers = [hit for hit in hits_of(found) if hit.path == "json/scanner.py"]
    script.answer(f"There is no json/parser.py; numbers are recognised in json/scanner.py:\n{bullets(numbers)}")
    script.human("Right, I meant the scanner. And the decoder, all of it: who calls the scanner, and what is raised?")
    raised = script.read_through("json/decoder.py", watch_for=r"scan_once|raise ", thought="Page by page.")
    script.answer(f"{len(raised)} lines of json/decoder.py call the scanner or raise:\n{bullets(raised, 16)}")
    script.notes["scanner"] = numbers[0].place if numbers else "json/scanner.py:1"


def configuration_errors(script: SessionScript) -> None:
    """Exceptions by type, counted from a search."""
    script.human("Next module: configparser. Which exceptions does it raise, how often, and where?")
    (found,) = script.use(("search", {"pattern": r"^\s*raise [A-Z]", "where": "configparser.py"}))
    raises = hits_of(found)
    kinds = Counter(match[1] for hit in raises if (match := re.match(r"raise (\w+)", hit.text)))
    script.use(*(("read_file", {"path": hit.path, "first": hit.line - 12, "last": hit.line + 3}) for hit in raises[:4]))
    script.use(
        *(("read_file", {"path": hit.path, "first": hit.line - 12, "last": hit.line + 3}) for hit in raises[4:8])
    )
    table = "\n".join(f"| {kind} | {number} |" for kind, number in sorted(kinds.items()))
    script.answer(
        f"{len(raises)} raise statements:\n| exception | times |\n| --- | --- |\n{table}\n{bullets(raises, 20)}"
    )
    script.human("And when I ask for a section or an option that is not there? Show me with a run.")
    (run,) = script.use(("run_python", {"code": MISSING_SECTION_PROGRAM}))
    script.answer(f"Two different exceptions, and `fallback` silences both:\n{run}")
    script.notes["configparser"] = f"{len(raises)} raise statements of {len(kinds)} kinds"
    script.human("Read its interpolation and parsing code in full; I want to know every regular expression.")
    patterns = script.read_through("configparser.py", watch_for=r"re\.compile|re\.VERBOSE", thought="The whole file.")
    script.answer(f"Regular expressions in configparser:\n{bullets(patterns)}")
    script.notes["patterns"] = ", ".join(hit.place for hit in patterns)


def sniffing(script: SessionScript) -> None:
    """A module read and tried out."""
    script.human("How does csv guess the delimiter, and when does it give up?")
    script.use(("outline", {"path": "csv.py"}))
    lines = script.read_through("csv.py", watch_for=r"def |raise Error", thought="I read csv.py.")
    (run,) = script.use(("run_python", {"code": SNIFFER_PROGRAM}))
    gives_up = [hit for hit in lines if "raise" in hit.text]
    script.answer(f"It gives up at {', '.join(hit.place for hit in gives_up)}. Four samples tried:\n{run}")
    script.notes["csv"] = ", ".join(hit.place for hit in gives_up)


def budget_change(script: SessionScript) -> None:
    """A figure that replaces an earlier one, and a new rule."""
    script.human(
        "The customer agreed to more: the budget is now 46 hours instead of 38. And from here on keep answers short."
    )
    script.answer("Understood: 46 hours instead of 38 for LIB-20417, and short answers.")


def queues_and_locks(script: SessionScript) -> None:
    """Two files of one package, and a run."""
    script.human(
        "asyncio: read queues.py and locks.py completely. Where can a waiter be cancelled, and what is cleaned up then?"
    )
    waits = script.read_through("asyncio/queues.py", watch_for=r"except|finally|cancel", thought="queues.py first.")
    waits += script.read_through("asyncio/locks.py", watch_for=r"CancelledError|finally", thought="Now locks.py.")
    (run,) = script.use(("run_python", {"code": QUEUE_PROGRAM}))
    script.answer(f"{len(waits)} places:\n{bullets(waits)}\nBounds of a queue:\n{run}")
    script.notes["asyncio"] = f"{len(waits)} places of cancellation or clean-up"


def german(script: SessionScript) -> None:
    """The user changes the language; the agent answers in it."""
    script.human(
        "Noch etwas auf Deutsch: Wie bricht textwrap lange Wörter um? Lies die Datei ganz und probiere es aus."
    )
    breaks = script.read_through("textwrap.py", watch_for=r"break_long_words|width <", thought="Ich lese textwrap.py.")
    (run,) = script.use(("run_python", {"code": WRAP_PROGRAM}))
    script.answer(f"Darüber entscheiden diese Zeilen:\n{bullets(breaks)}\nProbe:\n{run}")
    script.notes["textwrap"] = breaks[0].place
    script.human("Danke, back to English.")
    script.answer("Back to English.")


def heaps_and_shells(script: SessionScript) -> None:
    """Two more modules, read in full."""
    script.human("heapq next: read it, and check on 2,000 numbers that the invariant holds.")
    functions = script.read_through("heapq.py", watch_for=r"^def ", thought="I read heapq.py.")
    (run,) = script.use(("run_python", {"code": HEAP_PROGRAM}))
    script.answer(f"{len(functions)} functions:\n{bullets(functions, 20)}\nThe check:\n{run}")
    script.human("And shlex: which states does the lexer have, and what happens with an open quote?")
    states = script.read_through("shlex.py", watch_for=r"self\.state =|raise ", thought="I read shlex.py.")
    (run,) = script.use(("run_python", {"code": SHELL_PROGRAM}))
    script.answer(f"{len(states)} lines set the state or raise:\n{bullets(states, 20)}\nTried:\n{run}")
    script.notes["shlex"] = ", ".join(hit.place for hit in states if "raise" in hit.text)


def loose_ends(script: SessionScript) -> None:
    """A search over several packages, with parallel calls."""
    script.human("Are there loose ends the authors marked themselves, in json, http, logging, asyncio and email?")
    packages = ("json", "http", "logging", "asyncio", "email")
    outputs = script.use(*(("search", {"pattern": r"\b(TODO|FIXME|XXX)\b", "where": package}) for package in packages))
    counted = {package: hits_of(output) for package, output in zip(packages, outputs, strict=True)}
    rows = "\n".join(f"| {package} | {len(hits)} |" for package, hits in counted.items())
    first = [hit for hits in counted.values() for hit in hits[:4]]
    script.answer(f"| package | marks |\n| --- | --- |\n{rows}\n{bullets(first, 20)}")
    script.notes["marks"] = f"{sum(map(len, counted.values()))} marks in {len(packages)} packages"


def hand_over(script: SessionScript) -> None:
    """The questions that go back to the start: all of it left the window long ago."""
    notes = script.notes
    script.human(
        "Before I hand over: which ticket, order, price, date and budget was it, which rules did I give you, and on "
        "which lines is NaN decided?"
    )
    script.answer(
        "Ticket LIB-20417, order ORD-7731-KX, 4,250.00 EUR, due 2027-03-19, budget 46 hours (38 at first). Rules: "
        "always file:line, no change of a public signature, no file edited, short answers, order id on the invoice. "
        f"NaN is decided at {notes.get('nan', 'lines not looked at yet')}."
    )
    script.human("Good. And one line for each module you read.")
    script.answer("\n".join(f"- {name}: {note}" for name, note in notes.items()))


TASKS: tuple[Callable[[SessionScript], None], ...] = (
    start,
    not_a_number,
    circular,
    order_facts,
    missing_file,
    configuration_errors,
    sniffing,
    budget_change,
    queues_and_locks,
    german,
    heaps_and_shells,
    loose_ends,
    hand_over,
)
"""The tasks in the order the user gives them; each leaves the session at an answer of the agent."""
