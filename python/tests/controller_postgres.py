"""A PostgreSQL server for tests of the controller's store."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_controller_service import free_port, wait

from lightloom.controller import schema
from lightloom.controller.store import Store

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    if not BINARIES:
        pytest.skip("Debian's package postgresql is not installed")
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("the test runs PostgreSQL as the user postgres, which needs root")
    folder = Path(tempfile.mkdtemp(prefix="lightloom-postgres-"))
    shutil.chown(folder, "postgres", "postgres")
    port, binaries = free_port(), BINARIES[-1].parent
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    line = [str(binaries / "initdb"), "-D", str(folder / "data"), "-A", "trust", "-U", "postgres"]
    subprocess.run([*as_user, *line], check=True, capture_output=True, cwd=folder)
    line = [str(binaries / "postgres"), "-D", str(folder / "data"), "-p", str(port)]
    line += ["-h", "127.0.0.1", "-k", str(folder), "-F"]
    server = subprocess.Popen(
        [*as_user, *line], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    ready = [str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    try:
        wait(lambda: subprocess.run(ready, capture_output=True, check=False).returncode == 0)
        yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def emptied(url: str) -> str:
    store = Store(url, time.time)
    schema.metadata.drop_all(store._engine)
    store.close()
    return url
