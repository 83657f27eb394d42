"""How big it is: exact counts of texts and whole messages, truncation by tokens, and a quick estimate.

It may import `messages` and `errors`. Counting is exact because an estimate fails where it hurts: characters / 4 sees a
quarter of a Chinese text, and six tokens in 40,000 characters of tool arguments. `toktok-rs` carries the ranks of the
common encodings and counts the same as tiktoken without a network; tiktoken is asked for the others.
"""

from langchain_ctxcompress.tokens.encodings import DEFAULT_ENCODING, MARGIN_PERCENT, Encoding, encoding_for
from langchain_ctxcompress.tokens.messages import MESSAGE_OVERHEAD, count_message
from langchain_ctxcompress.tokens.meter import Measured, TokenMeter, continues
from langchain_ctxcompress.tokens.text import count_batch, count_tokens, estimate_tokens, truncate_to_tokens

MessageCounter = TokenMeter
"""The meter by what it is called with: a list, for the size of each message."""

__all__ = [
    "DEFAULT_ENCODING",
    "MARGIN_PERCENT",
    "MESSAGE_OVERHEAD",
    "Encoding",
    "Measured",
    "MessageCounter",
    "TokenMeter",
    "continues",
    "count_batch",
    "count_message",
    "count_tokens",
    "encoding_for",
    "estimate_tokens",
    "truncate_to_tokens",
]
