"""What is left of what users said, after many compressions: this package beside its peers, in one run.

`sessions` builds long conversations with planted items (`items`, from `open_phrasings` or `held_out_phrasings`) between
filler (`filler`). `contestants` plays each conversation to this package and to the peers, step by step, with the same
`summariser`, which loses most of what it is shown. `judging` looks for the items in what would be sent at the end, by
text alone, and `table` writes what it found. `python -m benchmarks.eval` runs it all.
"""
