"""The frame of the studio: the door, the screens, the job panel, undo and redo, the documentation, progress of runs."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import shutil

import pytest

from reticent.studio.app import MAX_STREAMS
from reticent.studio.error_explanations import explain_error
from reticent.studio.screens import NAMES, load_screens
from tests.studio.client import read_text


@pytest.mark.parametrize("name", NAMES)
def test_every_screen_is_shown_for_a_new_project_and_for_a_job(name, newcomer, steward):
    for user in (newcomer, steward):
        page = user.look(name)
        screen = next(screen for screen in load_screens(False) if screen.name == name)
        assert screen.question.replace("'", "&#39;") in page
        assert "The same on the command line" in page and "The same in Python" in page


@pytest.mark.parametrize("screen", load_screens(False) + load_screens(True), ids=lambda screen: screen.name)
def test_every_screen_links_to_a_page_of_the_documentation_that_is_served_here(screen, steward):
    response = steward.client.get(f"{steward.keys.prefix}/docs/{screen.docs}")
    assert response.status_code == 200 and "<h1>" in response.text
    assert '<a href="http' not in response.text, "nothing is fetched from elsewhere"


def test_undo_and_redo_walk_through_the_history_of_the_job(steward):
    before = steward.desk.job_file.text
    steward.desk.job_file.set_field(["method", "name"], "mosaic")
    after = steward.desk.job_file.text
    assert "mosaic" in after and before != after
    steward.press("job", "undo", screen="promise")
    assert steward.desk.job_file.text == before
    page = steward.press("job", "redo", screen="promise")
    assert steward.desk.job_file.text == after
    assert "<mark" in page, "the changed line is marked"


def test_a_text_with_a_syntax_error_is_shown_in_place_and_nothing_is_lost(steward):
    page = steward.press("job", "text", screen="promise", text="[source\npath = 1")
    assert "not valid" in read_text(page)
    assert steward.desk.job_file.text == "[source\npath = 1"
    steward.press("job", "undo", screen="promise")
    assert steward.desk.read_job() is not None


def test_a_run_is_followed_by_events_until_it_is_done(steward):
    run = steward.desk.start("check", ["check", "job.toml"])
    with steward.client.stream("GET", f"{steward.keys.prefix}/runs/{run.id}/events") as response:
        text = "".join(response.iter_text())
    assert "event: progress" in text and text.rstrip().endswith("done")
    assert steward.desk.find_result("check")["reachable"] is True


def test_a_cancelled_run_says_so_and_leaves_nothing(steward):
    run = steward.desk.start("publish", ["publish", "job.toml", "-o", "release"])
    steward.press(f"runs/{run.id}", "cancel", screen="publish")
    assert steward.wait(run).outcome in ("cancelled", "done")
    assert (steward.desk.project.folder / "release").exists() == run.succeeded


def test_the_icon_that_browsers_ask_for_is_there(steward):
    assert 'href="/static/icon.svg"' in steward.look("data")
    for address in ("/static/icon.svg", "/favicon.ico"):
        response = steward.client.get(address)
        assert response.status_code == 200 and response.headers["content-type"].startswith("image/svg+xml")


UNREADABLE = {
    "no job file but a folder": lambda folder: ((folder / "job.toml").unlink(), (folder / "job.toml").mkdir()),
    "a job file that is not UTF-8": lambda folder: (folder / "job.toml").write_bytes(b"\xff[source]\n"),
    "a folder that is gone": shutil.rmtree,
}


@pytest.mark.parametrize("state", UNREADABLE)
def test_what_cannot_be_read_or_written_is_said_in_place_and_the_typed_text_is_shown_again(state, steward):
    UNREADABLE[state](steward.desk.project.folder)
    steward.client.get(f"{steward.keys.prefix}/")  # the first screen says why, too
    for name in NAMES:
        answer = steward.client.get(f"{steward.keys.prefix}/{name}")
        assert answer.status_code == 200 or (answer.status_code == 422 and 'role="alert"' in answer.text), name
    for action in ("undo", "text"):
        page = steward.press("job", action, screen="publish", text="# what I <typed>", status=422)
        assert 'id="refusal"' in page and "Try " in page
    assert "# what I &lt;typed&gt;</textarea>" in page


def test_a_text_that_cannot_be_written_stands_in_the_screen_with_the_reason(steward, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    before = steward.desk.job_file.text
    monkeypatch.setattr("reticent.studio.job_file.os.replace", refuse)
    page = steward.press("job", "text", screen="promise", text="# typed", status=422)
    assert "cannot be written: Permission denied" in page and "# typed</textarea>" in page
    assert steward.desk.job_file.text == before
    assert [path.name for path in steward.desk.project.folder.iterdir() if path.name.endswith(".part")] == []


@pytest.mark.parametrize("place", ["show", "action", "view"])
def test_what_nobody_foresaw_is_said_without_its_message_and_the_studio_goes_on(place, steward, caplog, capsys):
    def stumble(*_, **__):
        raise KeyError("Mrs. Miller")

    studio = next(route.endpoint.__self__ for route in steward.app.routes if route.path == "/open")
    screen = studio.by_name["publish"]
    broken = dataclasses.replace(
        screen, show=stumble if place == "show" else screen.show, actions={"save": stumble}, views={"page": stumble}
    )
    studio.by_name["publish"] = broken
    studio.screens[studio.screens.index(screen)] = broken
    if place == "action":
        page = steward.press("publish", "save", status=500)
    else:
        address = {"show": "publish", "view": "publish/view/page"}[place]
        answer = steward.client.get(f"{steward.keys.prefix}/{address}")
        assert answer.status_code == 500
        page = answer.text
    assert "KeyError" in page and "Try Undo" in page
    assert "Miller" not in page + caplog.text + "".join(capsys.readouterr())
    assert "What is each column" in steward.look("columns")


def test_an_error_of_the_system_or_of_memory_is_explained_with_what_to_try():
    full = explain_error(OSError(errno.ENOSPC, "No space left on device", "/data/of/somebody"))
    assert "no space left" in full.what and full.attempt and "somebody" not in str(full)
    assert "memory" in explain_error(MemoryError()).what


def test_of_many_tabs_a_few_hold_a_stream_and_the_others_ask_again(steward):
    class OpenTab:
        async def is_disconnected(self):
            return False

    async def follow_in_tabs():
        streams = [studio._list_events(OpenTab(), run) for _ in range(MAX_STREAMS + 2)]
        beginnings = [[await anext(stream), await anext(stream)] for stream in streams[:MAX_STREAMS]]
        assert all(retry.startswith("retry: ") and "event: progress" in event for retry, event in beginnings)
        for stream in streams[MAX_STREAMS:]:
            await anext(stream)
        return [[event async for event in stream] for stream in streams[:2]]

    studio = next(route.endpoint.__self__ for route in steward.app.routes if route.path == "/open")
    run = steward.desk.runs.start([], "key", program=("-c", "import time; time.sleep(60)"))
    try:
        assert asyncio.run(follow_in_tabs()) == [[], []], "the oldest have ended, without a word that the work has"
    finally:
        run.process.kill()
    steward.wait(run)
