"""What holds for every test: no network, no key, no file outside the test's own folders."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support.postgres import place, postgres_server, postgres_url  # noqa: F401 - fixtures
from tests.support.redis_server import redis_history, redis_url  # noqa: F401 - fixtures

# No deadline: the time of one example says more about the machine than about the code. `too_slow` for the same reason.
settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2_000)
# Where a change is decided on, the same code gives the same answer, and soon; new examples, twice as many, are looked
# for at every other run.
settings.register_profile("ci", settings.get_profile("default"), max_examples=50, derandomize=True, database=None)
# A tool that changes the code runs each test many times in one process: for Hypothesis that is another executor.
settings.register_profile(
    "mutation",
    settings.get_profile("ci"),
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))

# A failing conversation of 400 messages is long to print; that must not hide what failed.
LONG_EXAMPLE = "ignore:Generating overly large repr:hypothesis.errors.HypothesisWarning"
WHOLE_SESSIONS = {
    "test_background.py",
    "test_check_strategy.py",
    "test_events.py",
    "test_faults_page.py",
    "test_faulty_models.py",
    "test_interrupted.py",
    "test_matrix.py",
    "test_weighing.py",
}
REPEATING = {"laws", "realdata", "fuzz", "support_tests"} | WHOLE_SESSIONS
LOCAL_HOSTS = ("127.", "::1", "localhost")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", LONG_EXAMPLE)


@pytest.hookimpl(trylast=True)  # behind the one of Hypothesis, which marks its tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coverage is of the examples: traced, what goes over the same lines again and again takes five times as long.

    That is the properties, and the rooms whose tests are whole sessions.
    """
    for item in items:
        if item.get_closest_marker("hypothesis") or REPEATING & set(item.path.parts):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture(scope="session", autouse=True)
def closed_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Takes away the network beyond this machine, every key and tracing setting, and the user's own data folder."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not str(address[0]).startswith(LOCAL_HOSTS):
            raise AssertionError(f"a test wanted to connect to {address}")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded)
        for name in list(os.environ):
            if name.startswith(("LANGSMITH_", "LANGCHAIN_")) or name.endswith("_API_KEY"):
                patch.delenv(name)
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
        patch.setenv("PYTHONIOENCODING", "utf-8")
        patch.delenv("COLUMNS", raising=False)  # parallel runs set it; how wide a table is must not depend on it
        yield
