"""All ten laws after each step of a machine that does everything at once: see `everything.py`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from tests.laws.everything import Everything


class TestEverything(Everything.TestCase):
    settings = settings(max_examples=15, stateful_step_count=20, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
class TestEverythingForFiveMinutes(Everything.TestCase):
    settings = settings(max_examples=60, stateful_step_count=50, suppress_health_check=list(HealthCheck))
