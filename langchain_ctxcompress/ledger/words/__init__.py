"""The closed-class words of each language in groups: one table a language, one row a group.

Groups: `stop` function words without a say of their own; `universal` always, never, every, only; `wide` all, any,
nothing; `scope` from now on, in future, by default; `condition` until, unless, except; `must` duty, ban, permission;
`unable` cannot; `not` negation; `prefer` taste; `limit` bounds; `self` and `you` first and second person; `aside` said
in passing; `mind` remember, note; `goal` aims and states of work; `decide` choices made; `ask` questions and polite
requests; `ack` replies; `feel` moods and courtesies; `past` reports of what was done; `now` only this moment; `update`
a change; `shift` words that may announce one; `instead` and `contrast` between the old and the new; `retract` taking
back by permission, `forget` outright; `done` reports of success; `trouble` of failure; `want` a wish for this moment;
`please` courtesy; `rulehead` words that announce rules; `state` verbs of lasting state; `norm` words that make a plain
statement a duty or a ban; `hold` imperatives that keep a state as it is, or stop a habit.

In a row a space separates cues and an underscore joins the words of one cue.
"""

from langchain_ctxcompress.ledger.words.germanic import GERMANIC
from langchain_ctxcompress.ledger.words.others import OTHERS
from langchain_ctxcompress.ledger.words.romance import ROMANCE
from langchain_ctxcompress.ledger.words.unspaced import UNSPACED

SPACED: dict[str, dict[str, str]] = {**GERMANIC, **ROMANCE, **OTHERS}

__all__ = ["SPACED", "UNSPACED"]
