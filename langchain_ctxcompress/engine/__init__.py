"""The active context, the six stages of a compression, what they remember of sessions, and what they return.

It may import `strategies` and every room below it. It does no I/O: `stages` yields what has to be carried out, and the
two drivers, sync and async, do that.
"""

from langchain_ctxcompress.engine.active_context import ActiveContext, ActiveContextState, PartTokens, is_active_context
from langchain_ctxcompress.engine.background import Background
from langchain_ctxcompress.engine.cooldown import CoolDown
from langchain_ctxcompress.engine.drivers import Driver
from langchain_ctxcompress.engine.events import CompressionEvent
from langchain_ctxcompress.engine.forgetting import forget_messages
from langchain_ctxcompress.engine.job import Call, EngineSteps, Job, ModelCall, StoreCall
from langchain_ctxcompress.engine.result import CompressionPlan, CompressionResult, Outcome
from langchain_ctxcompress.engine.sessions import Session, Sessions
from langchain_ctxcompress.engine.stages import at_once, compress, plan, settled
from langchain_ctxcompress.engine.verdict import log_result

__all__ = [
    "ActiveContext",
    "ActiveContextState",
    "Background",
    "Call",
    "CompressionEvent",
    "CompressionPlan",
    "CompressionResult",
    "CoolDown",
    "Driver",
    "EngineSteps",
    "Job",
    "ModelCall",
    "Outcome",
    "PartTokens",
    "Session",
    "Sessions",
    "StoreCall",
    "at_once",
    "compress",
    "forget_messages",
    "is_active_context",
    "log_result",
    "plan",
    "settled",
]
