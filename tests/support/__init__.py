"""What the tests judge the package by, written without it.

Nothing in this folder imports the package under test: the legality checker is written from the providers' rules, the
counter from the encoding's own ranks, the conversations from what real ones hold. An error in the package can so not
hide in the yardstick.

- `legality`: is a list of messages one that a provider accepts, in order, with all that must stay in it?
- `sizes`: how many tokens is it?
- `conversations`: lists of messages to try, drawn by Hypothesis or built by hand.
- `realdata`: recorded conversations, where they are at hand.
- `models`: chat models that say what a test tells them to.
"""
