"""The six stages of a compression, what they remember of sessions, and what they return.

It may import `strategies` and every room below it. It does no I/O: `stages` yields what has to be carried out, and the
compressor's two drivers, sync and async, do that.
"""

from langchain_ctxcompress.engine.cooldown import CoolDown
from langchain_ctxcompress.engine.result import CompressionPlan, CompressionResult, Outcome
from langchain_ctxcompress.engine.sessions import Session, Sessions
from langchain_ctxcompress.engine.stages import Call, EngineSteps, Job, ModelCall, StoreCall, compress, plan, view

__all__ = [
    "Call",
    "CompressionPlan",
    "CompressionResult",
    "CoolDown",
    "EngineSteps",
    "Job",
    "ModelCall",
    "Outcome",
    "Session",
    "Sessions",
    "StoreCall",
    "compress",
    "plan",
    "view",
]
