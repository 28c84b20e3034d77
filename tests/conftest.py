"""Shared fixtures: a corpus in a folder, an index over it, a clock that only moves forward."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("default")

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the long profile too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # They fork, which takes longer the more the process holds: they come before any model is read.
    items.sort(key=lambda item: "crash" not in item.path.parts)
    if config.getoption("--long"):
        return
    skip = pytest.mark.skip(reason="the long profile: run with --long")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of public data sets, where it is beside the project."""
    if not SHARED.is_dir():
        pytest.skip("needs the public data sets at ../shared")
    return SHARED


def pytest_configure() -> None:
    """Hear interrupts also where the run was started in the background, which ignores them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
