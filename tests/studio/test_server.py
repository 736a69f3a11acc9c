"""The studio as a process: it listens on loopback alone, is found by a second start, and ends with Ctrl-C and its children."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from reticent.cli.main import main
from reticent.errors import RequestError
from reticent.studio import server
from reticent.studio.desk import Desk

LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/open\?token=([\w-]+)")


@pytest.fixture
def runtime(tmp_path, monkeypatch):
    folder = tmp_path / "runtime"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    return folder


def start(folder: Path, *options: str) -> subprocess.Popen:
    words = [sys.executable, "-m", "reticent", "studio", str(folder), "--no-browser", *options]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    )


def read_link(process: subprocess.Popen) -> tuple[int, str]:
    lines = []
    for line in process.stdout:
        lines.append(line)
        if match := LINK.search(line):
            return int(match[1]), match[2]
    raise AssertionError("".join(lines))


def fetch(port: int, path: str) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=20) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def end(process: subprocess.Popen) -> int:
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(30)
    finally:
        process.kill()
        process.stdout.close()


def test_a_studio_answers_on_loopback_is_found_by_a_second_start_and_ends_with_ctrl_c(tmp_path, runtime):
    folder = tmp_path / "project"
    folder.mkdir()
    process = start(folder)
    try:
        port, token = read_link(process)
        assert f"ssh -L {port}:127.0.0.1:{port}" in process.stdout.readline()
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                assert fetch(port, f"/open?token={token}") == 200
                break
            except urllib.error.URLError:
                time.sleep(0.1)
        announcement = next(runtime.rglob("*.json"))
        assert announcement.stat().st_mode & 0o077 == 0
        second = start(folder)
        again_port, again = read_link(second)
        assert second.wait(30) == 0 and again_port == port and again != token
        second.stdout.close()
        assert fetch(port, f"/open?token={again}") == 200
        addresses = {
            line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines() if f":{port:04X} " in line
        }
        assert all(address.startswith("0100007F:") for address in addresses if address.endswith(f":{port:04X}"))
    finally:
        code = end(process)
    assert code == 0
    assert not list(runtime.rglob("*.json")), "the announcement is removed"
    assert not list(folder.iterdir()), "looking writes nothing"


def test_a_slow_client_does_not_keep_others_out(tmp_path, runtime):
    folder = tmp_path / "project"
    folder.mkdir()
    process = start(folder)
    slow = []
    try:
        port, token = read_link(process)
        until = time.monotonic() + 20
        while time.monotonic() < until and len(slow) < 20:
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=5)
                connection.sendall(b"POST /enter HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: 1000\r\n" % port)
                slow.append(connection)
            except OSError:
                time.sleep(0.1)
        assert fetch(port, f"/open?token={token}") == 200
    finally:
        for connection in slow:
            connection.close()
        end(process)


def test_a_port_in_use_is_named_with_what_to_try(tmp_path, runtime, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["studio", str(tmp_path), "--no-browser", "--port", str(port)]) == 1
    assert f"Port {port} cannot be used" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_refused(tmp_path, capsys):
    assert main(["studio", str(tmp_path / "none"), "--no-browser"]) == 1
    assert "is not there" in capsys.readouterr().err


def test_without_the_extra_the_command_names_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "reticent.studio.server")
    assert main(["studio", str(tmp_path), "--no-browser"]) == 1
    assert "pip install 'reticent[studio]'" in capsys.readouterr().err


def test_a_runtime_folder_of_another_user_is_refused(tmp_path, runtime):
    (runtime / "reticent-studio").mkdir(mode=0o777)
    os.chmod(runtime / "reticent-studio", 0o777)
    with pytest.raises(RequestError, match="another user"), server.announce_studio(tmp_path, 1, "key"):
        pass


def test_a_stale_announcement_is_no_running_studio(tmp_path, runtime):
    with server.announce_studio(tmp_path, 1, "key"):
        facts = json.loads(next(runtime.rglob("*.json")).read_text())
        assert facts["port"] == 1
        assert server.ask_running_studio(tmp_path) is None, "nobody answers on port 1"
    assert server.ask_running_studio(tmp_path) is None


def test_a_job_is_found_by_its_tables_and_a_named_one_is_taken(tmp_path):
    assert Desk.open(tmp_path).job_file.path.name == "job.toml"
    (tmp_path / "patients.toml").write_text('[source]\npath = "a.csv"\n')
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    assert Desk.open(tmp_path).job_file.path.name == "patients.toml"
    assert Desk.open(tmp_path, tmp_path / "other.toml").job_file.path.name == "other.toml"


def test_importing_reticent_and_its_command_line_loads_nothing_of_the_studio():
    code = "import sys, reticent, reticent.cli.main; print(sorted({'starlette', 'uvicorn', 'jinja2', 'tomlkit'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
