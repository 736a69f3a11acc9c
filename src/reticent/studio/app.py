"""The studio's routes.  GET shows and changes nothing; POST does what a button says, then returns to its screen."""

from __future__ import annotations

import asyncio
import hmac
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from reticent.studio import pages
from reticent.studio.desk import Desk
from reticent.studio.error_explanations import choose_status, explain_error
from reticent.studio.guard import COOKIE, FRAME_POLICY, Guard, Keys
from reticent.studio.runs import Run
from reticent.studio.screens import Screen, load_screens

SECONDS_BETWEEN_EVENTS = 0.25
SECONDS_BETWEEN_SIGNS = 15.0  # of life, so that a closed page is noticed
MAX_FORM_FIELDS = 5_000
MAX_STREAMS = 4  # that stay open: a browser has six connections to one address, and pages need some
MILLISECONDS_TO_RETRY = 2_000  # until a page whose stream was ended asks again


class Studio:
    """The handlers of all routes, with the desk they work on."""

    def __init__(self, desk: Desk, keys: Keys, port: Callable[[], int]) -> None:
        self.desk = desk
        self.keys = keys
        self.screens = load_screens(desk.project.is_release)
        self.by_name = {screen.name: screen for screen in self.screens}
        self.guard = Guard(None, keys, port)
        self._streams: deque[object] = deque(maxlen=MAX_STREAMS)

    def make_app(self) -> Starlette:
        """Make the application, guarded."""
        prefix = self.keys.prefix
        routes = [
            Route("/static/{name}", self.send_static),
            Route("/favicon.ico", self.send_icon),
            Route("/open", self.show_door),
            Route("/enter", self.enter, methods=["POST"]),
            Route("/link", self.make_link, methods=["POST"]),
            Route(f"{prefix}/", self.show_first),
            Route(f"{prefix}/docs/{{name:path}}", self.show_docs),
            Route(f"{prefix}/job/{{action}}", self.change_history, methods=["POST"]),
            Route(f"{prefix}/runs/{{id}}/events", self.stream_events),
            Route(f"{prefix}/runs/{{id}}/cancel", self.cancel_run, methods=["POST"]),
            Route(f"{prefix}/{{screen}}", self.show_screen),
            Route(f"{prefix}/{{screen}}/view/{{view}}", self.show_view),
            Route(f"{prefix}/{{screen}}/{{action}}", self.act, methods=["POST"]),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(Guard, keys=self.keys, port=self.guard.port)],
            exception_handlers={HTTPException: self.show_failure},
            lifespan=self._live,
        )

    @asynccontextmanager
    async def _live(self, app: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(self.desk.runs.end_all)

    async def send_static(self, request: Request) -> Response:
        entry = pages.STATIC_FILES.get(request.path_params["name"])
        if entry is None:
            raise HTTPException(404)
        path, media_type = entry
        return FileResponse(path, media_type=media_type)

    async def send_icon(self, request: Request) -> Response:
        """Send the icon that browsers ask for beside pages that name none."""
        path, media_type = pages.STATIC_FILES["icon.svg"]
        return FileResponse(path, media_type=media_type)

    async def show_door(self, request: Request) -> Response:
        """Show the page behind a one-time link: one button, and nothing is used up yet."""
        token = request.query_params.get("token", "")
        is_good = self.keys.knows_link(token)
        page = pages.render_page("door.html", token=token, is_good=is_good, project=self.desk.project)
        return HTMLResponse(page, 200 if is_good else 403)

    async def enter(self, request: Request) -> Response:
        """Use a link up, and give this browser its cookie."""
        form = await self._read_form(request)
        if not self.keys.use_link(str(form.get("token", ""))):
            page = pages.render_page("door.html", token="", is_good=False, project=self.desk.project)
            return HTMLResponse(page, 403)
        response = RedirectResponse(f"{self.keys.prefix}/", 303)
        response.set_cookie(COOKIE, self.keys.cookie, path=f"{self.keys.prefix}/", httponly=True, samesite="strict")
        return response

    async def make_link(self, request: Request) -> Response:
        """Make another link for a second start by the same user, who can read the file with our key."""
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self.keys.command.encode()):
            raise HTTPException(403)
        return PlainTextResponse(self.keys.make_link())

    async def show_first(self, request: Request) -> Response:
        """Send to the first screen that is not done; one that cannot tell says why itself."""
        for screen in self.screens:
            try:
                is_done = await run_in_threadpool(screen.is_done, self.desk)
            except Exception:
                is_done = False
            if not is_done:
                return RedirectResponse(f"{self.keys.prefix}/{screen.name}", 303)
        return RedirectResponse(f"{self.keys.prefix}/{self.screens[-1].name}", 303)

    async def show_screen(self, request: Request) -> Response:
        return await self._render(self._find_screen(request))

    async def show_view(self, request: Request) -> Response:
        """Send a part of a screen that is a page of its own: a report in a frame, a file to be kept."""
        screen = self._find_screen(request)
        view = screen.views.get(request.path_params["view"])
        if view is None:
            raise HTTPException(404)
        try:
            response = await run_in_threadpool(view, self.desk, request.query_params)
        except Exception as error:
            failure = explain_error(error)
            return PlainTextResponse(str(failure), choose_status(failure))
        if response.media_type == "text/html":
            response.headers["Content-Security-Policy"] = FRAME_POLICY
        return response

    async def act(self, request: Request) -> Response:
        """Do what a button says, then show its screen again; what is refused is said in place."""
        screen = self._find_screen(request)
        action = screen.actions.get(request.path_params["action"])
        if action is None:
            raise HTTPException(404)
        form = await self._read_own_form(request)
        try:
            target = await run_in_threadpool(action, self.desk, form)
        except Exception as error:
            return await self._render(screen, error)
        finally:
            await form.close()
        return RedirectResponse(f"{self.keys.prefix}/{target or screen.name}", 303)

    async def change_history(self, request: Request) -> Response:
        """Undo or redo the last edit of the job, or take a text that was edited in place, which a refusal does not lose."""
        form = await self._read_own_form(request)
        screen = self.by_name.get(str(form.get("screen", "")), self.screens[0])
        text = str(form.get("text", "")).replace("\r\n", "\n")
        changes: dict[str, Callable[[], None]] = {
            "undo": self.desk.job_file.undo,
            "redo": self.desk.job_file.redo,
            "text": lambda: self.desk.job_file.write(text),
        }
        action = request.path_params["action"]
        if action not in changes:
            raise HTTPException(404)
        try:
            await run_in_threadpool(changes[action])
        except Exception as error:
            return await self._render(screen, error, typed_text=text if action == "text" else None)
        return RedirectResponse(f"{self.keys.prefix}/{screen.name}", 303)

    async def show_docs(self, request: Request) -> Response:
        page = await run_in_threadpool(pages.read_docs_page, request.path_params["name"])
        if page is None:
            raise HTTPException(404)
        title, text = page
        return HTMLResponse(pages.render_page("docs.html", title=title, text=text, prefix=self.keys.prefix))

    async def stream_events(self, request: Request) -> Response:
        """Stream the progress of a run as server-sent events: a fragment for each change, then `done`.

        Of many tabs only a few hold a stream: one more ends the oldest, whose page asks again a little later.
        """
        run = self._find_run(request)
        return StreamingResponse(self._list_events(request, run), media_type="text/event-stream")

    async def cancel_run(self, request: Request) -> Response:
        form = await self._read_own_form(request)
        self._find_run(request).cancel()
        screen = self.by_name.get(str(form.get("screen", "")), self.screens[0])
        return RedirectResponse(f"{self.keys.prefix}/{screen.name}", 303)

    async def show_failure(self, request: Request, error: Exception) -> Response:
        code = error.status_code if isinstance(error, HTTPException) else 500
        reason = "There is no such page." if code == 404 else "This request is not the studio's."
        return PlainTextResponse(reason, code)

    async def _list_events(self, request: Request, run: Run) -> AsyncIterator[str]:
        version = -1
        silent = 0.0
        stream = object()
        self._streams.append(stream)
        yield f"retry: {MILLISECONDS_TO_RETRY}\n\n"
        while stream in self._streams and not await request.is_disconnected():
            if run.version != version or (silent >= 1.0 and run.is_running and version >= 0):
                version = run.version
                silent = 0.0
                yield _format_event("progress", pages.render_page("progress.html", run=run))
            if not run.is_running:
                yield _format_event("done", run.outcome)
                return
            await asyncio.sleep(SECONDS_BETWEEN_EVENTS)
            silent += SECONDS_BETWEEN_EVENTS

    async def _render(self, screen: Screen, error: Exception | None = None, typed_text: str | None = None) -> Response:
        """Render a screen with what was refused; where it cannot be shown itself, a page that says why."""
        refusal = None if error is None else explain_error(error)
        try:
            page = await run_in_threadpool(
                pages.render_screen,
                self.desk,
                self.screens,
                screen,
                self.keys.prefix,
                self.keys.form,
                refusal,
                typed_text,
            )
        except Exception as failure:
            refusal = refusal or explain_error(failure)
            page = pages.render_page(
                "failure.html",
                error=refusal,
                prefix=self.keys.prefix,
                screen=screen,
                screens=self.screens,
                typed_text=typed_text,
            )
        return HTMLResponse(page, 200 if refusal is None else choose_status(refusal))

    def _find_screen(self, request: Request) -> Screen:
        screen = self.by_name.get(request.path_params["screen"])
        if screen is None:
            raise HTTPException(404)
        return screen

    def _find_run(self, request: Request) -> Run:
        run = self.desk.runs.get(request.path_params["id"])
        if run is None:
            raise HTTPException(404)
        return run

    async def _read_own_form(self, request: Request) -> FormData:
        """Read a form that our pages made; another is refused."""
        form = await self._read_form(request)
        if not self.guard.is_own_form(form.get("token")):
            await form.close()
            raise HTTPException(403)
        return form

    async def _read_form(self, request: Request) -> FormData:
        try:
            return await request.form(max_files=1, max_fields=MAX_FORM_FIELDS)
        except (ClientDisconnect, ValueError):
            raise HTTPException(400) from None


def _format_event(name: str, html: str) -> str:
    lines = "".join(f"data: {line}\n" for line in html.splitlines())
    return f"event: {name}\n{lines or 'data:' + chr(10)}\n"


def make_app(desk: Desk, keys: Keys, port: Callable[[], int]) -> Any:
    """Make the guarded application of a desk."""
    return Studio(desk, keys, port).make_app()
