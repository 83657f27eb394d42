"""Tests of `langchain_ctxcompress`: one folder for each room of the package."""
