"""What must not be lost: goals, rules, facts, requests, decisions, artifacts, exact values, as records code owns.

A summary is prose by a model that forgets; a ledger is data. `extract_records` reads it off the messages
themselves: rules and facts from the user's own words (never from a tool result, a quotation or a paste), artifacts
from tool calls (never from prose), exact values from both. `merge` joins it with what is known, so that a newer
value supersedes the older one and two similar things stay two. `render` restates it within a budget in which rules
and goals are never what goes. `check` holds a summary against it.

The room is pure: no input or output, no model, no clock but the one passed in. It may import `messages` and
`tokens` and nothing above, because the summariser, the strategies and the storage all read its records. Every scan
is linear in its input: what it reads is written by others.
"""

from langchain_ctxcompress.ledger.check import (
    UNVERIFIED,
    invented_values,
    mask_stale,
    missing_from,
    remove_invented,
    stale_in,
)
from langchain_ctxcompress.ledger.extract import extract_records
from langchain_ctxcompress.ledger.goal_set import (
    Goals,
    GoalSet,
    apply_report,
    goal_values,
    read_goals,
    render_goals,
)
from langchain_ctxcompress.ledger.goals import (
    Goal,
    GoalArtifact,
    GoalCheckpoint,
    GoalDecision,
    GoalUpdates,
    parse_goal_markers,
    update_goal,
)
from langchain_ctxcompress.ledger.masking import CHANGED
from langchain_ctxcompress.ledger.merge import merge
from langchain_ctxcompress.ledger.proposals import Proposal, finish, split_reply, take_up
from langchain_ctxcompress.ledger.records import (
    SCHEMA_VERSION,
    ArtifactRecord,
    DecisionRecord,
    Fact,
    Ledger,
    LedgerRecord,
    Request,
    Rule,
    Superseded,
    ValueRecord,
)
from langchain_ctxcompress.ledger.render import escape, render
from langchain_ctxcompress.ledger.values import FoundValue, find_values

__all__ = [
    "CHANGED",
    "SCHEMA_VERSION",
    "UNVERIFIED",
    "ArtifactRecord",
    "DecisionRecord",
    "Fact",
    "FoundValue",
    "Goal",
    "GoalArtifact",
    "GoalCheckpoint",
    "GoalDecision",
    "GoalSet",
    "GoalUpdates",
    "Goals",
    "Ledger",
    "LedgerRecord",
    "Proposal",
    "Request",
    "Rule",
    "Superseded",
    "ValueRecord",
    "apply_report",
    "escape",
    "extract_records",
    "find_values",
    "finish",
    "goal_values",
    "invented_values",
    "mask_stale",
    "merge",
    "missing_from",
    "parse_goal_markers",
    "read_goals",
    "remove_invented",
    "render",
    "render_goals",
    "split_reply",
    "stale_in",
    "take_up",
    "update_goal",
]
