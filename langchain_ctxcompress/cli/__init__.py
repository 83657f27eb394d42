"""`ctxcompress`, the command line: conversation files in, the same files compressed out, and a look into the archive.

It may import every room. Only typer and rich are imported at the top: the engine, the tokeniser and the chat models
are imported by the command that needs them, so that `ctxcompress --help` answers at once.

Exit codes: 0 all done; 1 a conversation is still too large, or its originals could not be archived (and the demo, if it
did not hold what it promises); 2 bad input: an option, a file, or a line of one (the other lines are done); 130 when
interrupted. What went wrong stands on stderr, one line each.
"""

from langchain_ctxcompress.cli.app import app, main

__all__ = ["app", "main"]
