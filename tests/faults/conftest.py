"""The process whose children's changes are spoiled; without gcc, or elsewhere than on Linux, these tests are skipped."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.faults.injection import Server, compiled


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("spoiling changes of the disk needs Linux and gcc")
    server = Server(compiled(tmp_path_factory.mktemp("library")))
    try:
        yield server
    finally:
        server.end()
