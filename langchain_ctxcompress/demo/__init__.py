"""The demo: a long agent session, recorded on this machine with real tool output, and compressed as it goes.

`workbench` holds the agent's tools, `script` and `tasks` what it does with them, `recording` makes the session and its
file, `run` plays it through a LangGraph graph in a small window. It may import every room but the command line.

The agent is scripted, so that the demo needs no model, no key and no network. Everything it is shown is real: its tools
read Python's own standard library, and its answers are computed from their output.
"""
