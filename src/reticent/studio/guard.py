"""The guard: which requests are ours, and what every response says to the browser.

A server on this machine is reached by every page that the browser shows and by every other user of the machine.  So a
request is answered only where its `Host` is a loopback name with our port (no rebinding), where the browser says that it
comes from our own pages, where it bears the cookie, and, if it changes anything, the token that our forms have.  The cookie
is bound to a secret path, because cookies do not tell ports apart: a server of another user would be sent it otherwise.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

COOKIE = "reticent-studio"
TOKEN_SECONDS = 3600.0  # that a link stays good
MAX_FORM_BYTES = 2 * 2**20
MAX_UPLOAD_BYTES = 2 * 2**30
SECONDS_FOR_BODY = 300.0  # a slow client does not hold a place for longer
MAX_OPEN_LINKS = 8
CONTENT_POLICY = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
FRAME_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class Keys:
    """The secrets of one running studio."""

    def __init__(self) -> None:
        self.path = secrets.token_urlsafe(24)  # of all pages: /s/<path>/
        self.cookie = secrets.token_urlsafe(32)
        self.form = secrets.token_urlsafe(32)  # in every form of ours
        self.command = secrets.token_urlsafe(32)  # by which a second start of the same user asks for a link
        self._links: dict[str, float] = {}

    @property
    def prefix(self) -> str:
        return f"/s/{self.path}"

    def make_link(self) -> str:
        """Make a token that opens the studio once."""
        token = secrets.token_urlsafe(32)
        self._links[token] = time.monotonic() + TOKEN_SECONDS
        while len(self._links) > MAX_OPEN_LINKS:
            del self._links[next(iter(self._links))]
        return token

    def knows_link(self, token: str) -> bool:
        """Tell whether a token is good, without using it up."""
        return any(
            hmac.compare_digest(known.encode(), token.encode()) and until > time.monotonic()
            for known, until in self._links.items()
        )

    def use_link(self, token: str) -> bool:
        """Use a token up; False where it is none of ours, or was used before."""
        if not self.knows_link(token):
            return False
        del self._links[token]
        return True


class Guard:
    """Middleware that refuses what is not ours and adds our headers to every response."""

    def __init__(self, app: Any, keys: Keys, port: Callable[[], int]) -> None:
        self.app = app
        self.keys = keys
        self.port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets here
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self.find_refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        bound = MAX_UPLOAD_BYTES if scope["path"].endswith("/upload") else MAX_FORM_BYTES
        await self.app(scope, _bound_body(receive, bound), send_with_headers)

    def find_refusal(self, scope: Scope) -> Response | None:
        """Return the response that refuses a request; None where it is ours."""
        headers = Headers(scope=scope)
        hosts = {f"{name}:{self.port()}" for name in ("127.0.0.1", "localhost", "[::1]")}
        if headers.getlist("host") != [headers.get("host", "")] or headers.get("host", "").lower() not in hosts:
            return PlainTextResponse("This address is not the studio's.", 421)
        method = scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("This method is not used here.", 405)
        is_page = scope["path"].startswith("/s/")
        site = headers.get("sec-fetch-site")
        if is_page and site not in (None, "none", "same-origin"):
            return PlainTextResponse("This request comes from another page.", 403)
        is_command = scope["path"] == "/link"  # asked by a second start of ours, which is no browser
        if method == "POST" and not is_command and not _is_same_origin(headers, site):
            return PlainTextResponse("This request comes from another page.", 403)
        if method == "POST" and (length := headers.get("content-length")) is not None:
            bound = MAX_UPLOAD_BYTES if scope["path"].endswith("/upload") else MAX_FORM_BYTES
            if not length.isdecimal() or int(length) > bound:
                return PlainTextResponse(f"This is more than {bound:,} bytes.", 413)
        if is_page and not self._has_cookie(scope["path"], headers):
            return PlainTextResponse(
                "This page belongs to a studio that you have not opened in this browser. "
                "Use the link that `reticent studio` printed; run it again for a new one.",
                403,
            )
        return None

    def is_own_form(self, token: object) -> bool:
        """Tell whether a form was made by our pages."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self.keys.form.encode())

    def _has_cookie(self, path: str, headers: Headers) -> bool:
        inside = path == self.keys.prefix or path.startswith(f"{self.keys.prefix}/")
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        value = cookies[COOKIE].value if COOKIE in cookies else ""
        return inside and hmac.compare_digest(value.encode(), self.keys.cookie.encode())


def _is_same_origin(headers: Headers, site: str | None) -> bool:
    """A browser says where a request comes from; one too old for that says its origin."""
    if site is not None:
        return site == "same-origin"
    return headers.get("origin", "") == f"http://{headers.get('host', '')}"


def _bound_body(receive: Receive, bound: int) -> Receive:
    """Return a reader of the body that ends after this many bytes or seconds, whatever its headers say."""
    read = 0
    until = time.monotonic() + SECONDS_FOR_BODY
    is_whole = False

    async def receive_bounded() -> Any:
        nonlocal read, is_whole
        if is_whole:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(until - time.monotonic(), 0.0))
        except TimeoutError:
            return {"type": "http.disconnect"}
        read += len(message.get("body", b""))
        if read > bound:
            return {"type": "http.disconnect"}
        is_whole = message["type"] == "http.disconnect" or not message.get("more_body", False)
        return message

    return receive_bounded
