"""Recorded conversations, compressed one by one; skipped where they are not at hand."""
