"""Starts the studio on this machine alone, and finds one that is running already.

The socket is bound to 127.0.0.1.  A file that the user alone can read, in a folder of the user's own, says where the studio
of a project listens and how a second start asks it for another link.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tempfile
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn

from reticent.errors import DiskError, RequestError
from reticent.operating_system import (
    belongs_to_other_user,
    can_reuse_address,
    get_user_id,
    has_user_ids,
    is_writable_by_others,
)
from reticent.studio.app import make_app
from reticent.studio.desk import Desk
from reticent.studio.guard import Keys

HOST = "127.0.0.1"
MAX_CONNECTIONS = 200
SECONDS_TO_ASK = 3.0


def serve(desk: Desk, port: int, open_browser: bool, say: Callable[..., None]) -> None:
    """Serve a desk until Ctrl-C; where its studio runs already, only print a new link to it.

    Raises:
        RequestError: the port is taken by something else.
    """
    running = ask_running_studio(desk.project.folder)
    if running is not None:
        say("The studio of this folder is running already. A new link to it:", running)
        if open_browser:
            webbrowser.open(running)
        return
    keys = Keys()
    with _listen(port) as listener:
        port = listener.getsockname()[1]
        link = format_link(port, keys.make_link())
        with announce_studio(desk.project.folder, port, keys.command):
            say(
                f"The studio of {desk.project.name} runs on this machine only. Open it with this link, which is good once:",
                f"  {link}",
                f"From afar:  ssh -L {port}:{HOST}:{port} <this machine>  and the same link. Ctrl-C ends the studio.",
            )
            if open_browser:
                webbrowser.open(link)
            config = uvicorn.Config(
                make_app(desk, keys, lambda: port),
                log_level="warning",
                access_log=False,  # an address is a secret
                server_header=False,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=5,
                ws="none",
            )
            with suppress(KeyboardInterrupt):  # Ctrl-C is how a studio ends
                uvicorn.Server(config).run(sockets=[listener])


def format_link(port: int, token: str) -> str:
    return f"http://{HOST}:{port}/open?token={token}"


def ask_running_studio(folder: Path) -> str | None:
    """Ask the studio of a folder for a new link; None where none answers."""
    try:
        facts = json.loads(_name_announcement(folder).read_text(encoding="utf-8"))
        port = int(facts["port"])
        request = urllib.request.Request(
            f"http://{HOST}:{port}/link",
            method="POST",
            headers={"Authorization": f"Bearer {facts['key']}", "Host": f"{HOST}:{port}"},
        )
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
            request, timeout=SECONDS_TO_ASK
        ) as reply:
            return format_link(port, reply.read(200).decode("ascii"))
    except (OSError, ValueError, KeyError, TypeError, urllib.error.URLError):
        return None


@contextmanager
def announce_studio(folder: Path, port: int, key: str) -> Iterator[None]:
    """Say, to this user alone, where the studio of a folder listens; at the end the file is removed."""
    path = _name_announcement(folder)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_private(path.parent)
        path.unlink(missing_ok=True)
        announcement = json.dumps({"port": port, "key": key, "pid": os.getpid()})
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(announcement.encode())
    except OSError as error:
        raise DiskError(
            f"The studio's own folder {path.parent} cannot be written: {error.strerror}.",
            attempt="another folder in XDG_RUNTIME_DIR.",
        ) from None
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _name_announcement(folder: Path) -> Path:
    user = get_user_id() if has_user_ids() else os.environ.get("USERNAME", "user")
    base = os.environ.get("XDG_RUNTIME_DIR") or Path(tempfile.gettempdir()) / f"reticent-{user}"
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:16]
    return Path(base) / "reticent-studio" / f"{digest}.json"


def _require_private(folder: Path) -> None:
    """Refuse a folder that another user made or can write to: what it says would not be ours."""
    for each in (folder, folder.parent):
        facts = each.lstat()
        if belongs_to_other_user(facts) or is_writable_by_others(facts):
            raise RequestError(
                f"The folder {each} belongs to another user, or others can write to it.",
                attempt="XDG_RUNTIME_DIR with a folder of your own.",
            )


@contextmanager
def _listen(port: int) -> Iterator[Any]:
    """Listen on loopback; port 0 means any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if can_reuse_address():
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise RequestError(
            f"Port {port} cannot be used: {os.strerror(error.errno or 0).lower()}.",
            attempt="another --port, or none: a free one is chosen.",
        ) from None
    with listener:
        yield listener
