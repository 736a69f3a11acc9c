"""Attacks on a server on this machine, as data: what another page, another port, another user or a bad file would try.

Each row is one request, made by somebody who knows everything but the secrets: the port, the routes, the names of
cookies and fields.  `status` are the answers that are right; none of them shows anything of the project or changes it.
`{prefix}` is the secret path: a row that has it speaks of an attacker who has seen an address over a shoulder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

REFUSED = (400, 403, 404, 405, 413, 421, 422)


@dataclass(frozen=True)
class LocalhostAttack:
    """One request of an attacker.

    `cookie`: the browser sends our cookie along, as with a page that the steward has open.  `token`: the form has our
    token, as where a page could be made to send our own form.
    """

    name: str
    method: str = "GET"
    path: str = "{prefix}/data"
    headers: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] | None = None
    content: bytes | None = None
    files: Any = None
    cookie: bool = False
    token: bool = False
    status: tuple[int, ...] = REFUSED


def post(name: str, path: str = "{prefix}/job/text", **options: Any) -> LocalhostAttack:
    options.setdefault("data", {"text": "stolen = true", "screen": "data"})
    return LocalhostAttack(name, "POST", path, **options)


SAME = {"Sec-Fetch-Site": "same-origin"}
CROSS = {"Sec-Fetch-Site": "cross-site"}
BOUNDARY = {"Content-Type": "multipart/form-data; boundary=x"}

ATTACKS = [
    # rebinding: a name of the attacker's that resolves to this machine
    LocalhostAttack("rebinding by a foreign host", headers={"Host": "evil.example:8765"}, cookie=True, status=(421,)),
    LocalhostAttack("rebinding without a port", headers={"Host": "127.0.0.1"}, cookie=True, status=(421,)),
    LocalhostAttack("rebinding with another port", headers={"Host": "127.0.0.1:80"}, cookie=True, status=(421,)),
    LocalhostAttack(
        "a host that begins with ours", headers={"Host": "127.0.0.1:8765.evil.example"}, cookie=True, status=(421,)
    ),
    LocalhostAttack("a host that ends with ours", headers={"Host": "evil.localhost:8765"}, cookie=True, status=(421,)),
    LocalhostAttack("an empty host", headers={"Host": ""}, cookie=True, status=(421,)),
    LocalhostAttack("every address as a host", headers={"Host": "0.0.0.0:8765"}, cookie=True, status=(421,)),
    LocalhostAttack("a number as a host", headers={"Host": "2130706433:8765"}, cookie=True, status=(421,)),
    LocalhostAttack(
        "our host forwarded",
        headers={"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1:8765"},
        cookie=True,
        status=(421,),
    ),
    LocalhostAttack(
        "the door by a foreign host", path="/open?token=x", headers={"Host": "evil.example:8765"}, status=(421,)
    ),
    post(
        "entering by a foreign host",
        "/enter",
        headers={"Host": "evil.example:8765", **SAME},
        data={"token": "x"},
        status=(421,),
    ),
    # no cookie: another user of this machine, or another browser
    LocalhostAttack("a page without the cookie", headers=SAME, status=(403,)),
    LocalhostAttack(
        "a page with a cookie of the attacker's", headers={**SAME, "Cookie": "reticent-studio=guess"}, status=(403,)
    ),
    LocalhostAttack("a page with an empty cookie", headers={**SAME, "Cookie": "reticent-studio="}, status=(403,)),
    LocalhostAttack("a page with a broken cookie", headers={**SAME, "Cookie": 'reticent-studio="\\'}, status=(403,)),
    LocalhostAttack("another secret path", path="/s/guess/data", headers=SAME, cookie=True, status=(403,)),
    LocalhostAttack("no secret path", path="/s/", headers=SAME, cookie=True, status=(403,)),
    LocalhostAttack("events without the cookie", path="{prefix}/runs/0/events", headers=SAME, status=(403,)),
    LocalhostAttack("the documentation without the cookie", path="{prefix}/docs/columns", headers=SAME, status=(403,)),
    post("a form without the cookie", headers=SAME, token=True, status=(403,)),
    LocalhostAttack("the door without a token", path="/open", status=(403,)),
    LocalhostAttack("the door with a guess", path="/open?token=AAAA", status=(403,)),
    post("entering with a guess", "/enter", headers=SAME, data={"token": "AAAA"}, status=(403,)),
    post("entering with a token that is not ASCII", "/enter", headers=SAME, data={"token": "ä"}, status=(403,)),
    post(
        "a link for a second start with a guess",
        "/link",
        headers={"Authorization": "Bearer guess"},
        data={},
        status=(403,),
    ),
    post("a link for a second start without a key", "/link", data={}, status=(403,)),
    LocalhostAttack("a link by GET", path="/link", status=(405,)),
    # other pages of the same browser, which sends the cookie along
    LocalhostAttack("a page in a frame of another site", headers=CROSS, cookie=True, status=(403,)),
    LocalhostAttack(
        "a page asked for by another port", headers={"Sec-Fetch-Site": "same-site"}, cookie=True, status=(403,)
    ),
    post("a form of another site", headers=CROSS, cookie=True, token=True, status=(403,)),
    post("a form of another port", headers={"Sec-Fetch-Site": "same-site"}, cookie=True, token=True, status=(403,)),
    post("a form typed as an address", headers={"Sec-Fetch-Site": "none"}, cookie=True, token=True, status=(403,)),
    post("an old browser without an origin", cookie=True, token=True, status=(403,)),
    post(
        "an old browser with a foreign origin",
        headers={"Origin": "http://evil.example"},
        cookie=True,
        token=True,
        status=(403,),
    ),
    post(
        "an old browser with another port",
        headers={"Origin": "http://127.0.0.1:80"},
        cookie=True,
        token=True,
        status=(403,),
    ),
    post("an old browser with the origin null", headers={"Origin": "null"}, cookie=True, token=True, status=(403,)),
    post("a form without our token", headers=SAME, cookie=True, status=(403,)),
    post(
        "a form with a token of the attacker's",
        headers=SAME,
        cookie=True,
        data={"token": "x", "text": "stolen = true"},
        status=(403,),
    ),
    post(
        "a simple request as plain text",
        headers={**CROSS, "Content-Type": "text/plain"},
        cookie=True,
        data=None,
        content=b"text=stolen",
        status=(403,),
    ),
    post(
        "a beacon of another page",
        headers={**CROSS, "Content-Type": "application/x-www-form-urlencoded"},
        cookie=True,
        data=None,
        content=b"text=stolen",
        status=(403,),
    ),
    post("undo by another page", "{prefix}/job/undo", headers=CROSS, cookie=True, token=True, status=(403,)),
    post("cancelling by another page", "{prefix}/runs/0/cancel", headers=CROSS, cookie=True, token=True, status=(403,)),
    # what changes something does not by GET or by other methods
    LocalhostAttack(
        "an edit by GET",
        path="{prefix}/job/text?text=stolen&token={form}",
        headers=SAME,
        cookie=True,
        status=(404, 405),
    ),
    LocalhostAttack("undo by GET", path="{prefix}/job/undo", headers=SAME, cookie=True, status=(404, 405)),
    LocalhostAttack("entering by GET", path="/enter?token=x", status=(405,)),
    LocalhostAttack("an edit by PUT", "PUT", "{prefix}/job/text", headers=SAME, cookie=True, status=(405,)),
    LocalhostAttack("an edit by DELETE", "DELETE", "{prefix}/job/text", headers=SAME, cookie=True, status=(405,)),
    LocalhostAttack(
        "a question before a foreign request",
        "OPTIONS",
        headers={**CROSS, "Access-Control-Request-Method": "POST"},
        cookie=True,
        status=(405,),
    ),
    LocalhostAttack("TRACE", "TRACE", headers=SAME, cookie=True, status=(405,)),
    # paths
    LocalhostAttack("a file beside the static ones", path="/static/../guard.py", status=(404,)),
    LocalhostAttack("a file beside the static ones, encoded", path="/static/%2e%2e%2fguard.py", status=(404,)),
    LocalhostAttack("a static file by its path", path="/static//etc/passwd", status=(404,)),
    LocalhostAttack(
        "the documentation upwards", path="{prefix}/docs/..%2f..%2fsetup", headers=SAME, cookie=True, status=(404,)
    ),
    LocalhostAttack(
        "the documentation by a path", path="{prefix}/docs//etc/passwd", headers=SAME, cookie=True, status=(404,)
    ),
    LocalhostAttack("a screen that is none", path="{prefix}/__class__", headers=SAME, cookie=True, status=(404,)),
    LocalhostAttack("a template as a screen", path="{prefix}/frame", headers=SAME, cookie=True, status=(404,)),
    LocalhostAttack(
        "a view that is none", path="{prefix}/handout/view/..%2fjob.toml", headers=SAME, cookie=True, status=(404,)
    ),
    post("an action that is none", "{prefix}/data/__init__", headers=SAME, cookie=True, token=True, status=(404,)),
    LocalhostAttack("a run of somebody else", path="{prefix}/runs/../events", headers=SAME, cookie=True, status=(404,)),
    # bodies
    post("a body larger than a form", headers=SAME, cookie=True, data=None, content=b"x" * (3 * 2**20), status=(413,)),
    post(
        "a length that is none",
        headers={**SAME, "Content-Length": "-1"},
        cookie=True,
        data=None,
        content=b"",
        status=(413,),
    ),
    post("a form of many fields", headers=SAME, cookie=True, data={f"f{n}": "" for n in range(6000)}, status=(400,)),
    post(
        "parts without an end",
        headers={**SAME, **BOUNDARY},
        cookie=True,
        data=None,
        content=b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1",
        status=(400, 403),
    ),
    post(
        "parts without a name",
        headers={**SAME, **BOUNDARY},
        cookie=True,
        data=None,
        content=b"--x\r\n\r\n1\r\n--x--",
        status=(400, 403),
    ),
    post(
        "parts without a boundary",
        headers={**SAME, "Content-Type": "multipart/form-data"},
        cookie=True,
        data=None,
        content=b"--x",
        status=(400, 403),
    ),
    post(
        "two files where one is taken",
        "{prefix}/data/upload",
        headers=SAME,
        cookie=True,
        data={},
        files=[("file", ("a.csv", b"a")), ("file", ("b.csv", b"b"))],
        status=(400,),
    ),
]
