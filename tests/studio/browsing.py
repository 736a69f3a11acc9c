"""A studio that listens on loopback, and a steward who uses it in a real browser."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from reticent.studio.app import make_app
from reticent.studio.desk import Desk
from reticent.studio.guard import Keys
from reticent.studio.server import HOST, format_link
from tests.support.real_browser import OPEN_FOLDS
from tests.support.repository import ROOT

PICTURES = ROOT / "build" / "screenshots" / "studio"
WIDTHS = {"phone": 390, "desk": 1280}
WATCH_POLICY = (
    "window.refused = []; document.addEventListener('securitypolicyviolation', event => "
    "window.refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`))"
)


class ListeningStudio:
    """The studio of a folder, listening."""

    def __init__(self, desk: Desk, keys: Keys, port: int) -> None:
        self.desk = desk
        self.keys = keys
        self.port = port

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}{self.keys.prefix}"

    def make_link(self) -> str:
        return format_link(self.port, self.keys.make_link())


@contextmanager
def serve_studio(folder: Path) -> Iterator[ListeningStudio]:
    """Serve a folder in a thread, until the block ends."""
    desk = Desk.open(folder)
    keys = Keys()
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        settings = uvicorn.Config(make_app(desk, keys, lambda: port), log_level="warning", access_log=False, ws="none")
        settings.timeout_graceful_shutdown = 1
        server = uvicorn.Server(settings)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield ListeningStudio(desk, keys, port)
        server.should_exit = True
        thread.join(30)


class Visit:
    """A steward's browser, which notes what pages say, ask for and are refused, and every click."""

    def __init__(
        self, browser: Any, studio: ListeningStudio, width: int = WIDTHS["desk"], scheme: str = "light"
    ) -> None:
        self.studio = studio
        self.width = width
        self.scheme = scheme
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.context.add_init_script(WATCH_POLICY)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.clicks = 0
        self.page = self.open_tab()

    def open_tab(self) -> Any:
        """Open a tab whose messages and requests are noted."""
        page = self.context.new_page()
        page.on("console", lambda message: self.messages.append(f"{message.text} {message.location}"))
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def enter(self) -> None:
        """Open the one-time link, and press its button."""
        self.page.goto(self.studio.make_link())
        self.click("text=Open the studio")
        self.page.wait_for_selector("#app")

    def look(self, screen: str) -> None:
        """Open a screen by its address, and wait until nothing that the page starts by itself is running."""
        self.page.goto(f"{self.studio.address}/{screen}")
        self.settle()

    def settle(self, seconds: float = 120) -> None:
        """Wait until the page shows no work that is under way and no button that presses itself."""
        until = time.monotonic() + seconds
        busy = self.page.locator(".run, [hx-trigger^=load], .htmx-request")
        while busy.count():
            assert time.monotonic() < until, busy.first.inner_text()
            self.page.wait_for_timeout(50)

    def click(self, selector: str) -> None:
        self.page.locator(selector).first.click()
        self.clicks += 1

    def press(self, selector: str, seconds: float = 400) -> None:
        """Click, and wait until what the click began has ended and is shown."""
        self.click(selector)
        self.page.wait_for_timeout(400)  # for the page that follows, which shows what is running
        self.settle(seconds)

    def take_picture(self, name: str) -> None:
        """Keep a picture of the page; without hiding the caret, which would need a style of the driver's own."""
        PICTURES.mkdir(parents=True, exist_ok=True)
        size = next(size for size, width in WIDTHS.items() if width == self.width)
        path = PICTURES / f"{name}-{size}-{self.scheme}.png"
        # A lazy frame in a closed fold never loads, and "networkidle" never comes where one was replaced while it loaded.
        for shown in self.page.query_selector_all("iframe:not([loading=lazy])"):
            frame = shown.content_frame()
            assert frame is not None
            frame.wait_for_selector("body", state="attached")
        self.page.screenshot(path=path, full_page=True, caret="initial")

    def list_faults(self) -> list[str]:
        """Return what pages said in the console, were refused by their policy, or asked of others."""
        own = f"http://{HOST}:{self.studio.port}/"
        return [
            *self.messages,
            *self.page.evaluate("window.refused"),
            *(f"asked for {url}" for url in self.requests if not url.startswith((own, "data:", "about:", "blob:"))),
        ]

    def list_wide_parts(self) -> list[str]:
        """Return the parts of the page that reach beyond the screen, all folds open."""
        self.page.evaluate(OPEN_FOLDS)
        return self.page.evaluate(
            "() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('body *')]"
            ".filter(part => part.getBoundingClientRect().right > innerWidth + 1)"
            ".filter(part => part.classList.contains('unseen') || !part.closest('.wide, pre'))"
            ".map(part => `${part.tagName} ${part.className} ${part.id}`).slice(0, 8)"
        )

    def close(self) -> None:
        self.context.close()
