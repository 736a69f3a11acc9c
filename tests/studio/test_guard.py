"""Localhost is hostile: none of the listed attacks shows or changes anything; responses say to the browser what they must."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from reticent.studio.guard import COOKIE, MAX_OPEN_LINKS, Guard, Keys
from tests.studio.client import ADDRESS, PORT
from tests.studio.localhost_attacks import ATTACKS


def test_the_list_has_at_least_forty_attacks_of_different_names():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 40


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_from_this_machine_passes(attack, steward):
    before = steward.desk.job_file.text
    stranger = TestClient(steward.app, base_url=ADDRESS, follow_redirects=False)
    headers = dict(attack.headers)
    if attack.cookie:
        headers["Cookie"] = f"{COOKIE}={steward.keys.cookie}"
    data = attack.data
    if attack.token and data is not None:
        data = {**data, "token": steward.keys.form}
    options = {
        name: value for name, value in (("content", attack.content), ("files", attack.files)) if value is not None
    }
    path = attack.path.format(prefix=steward.keys.prefix, form=steward.keys.form)
    response = stranger.request(attack.method, path, headers=headers, data=data, **options)
    assert response.status_code in attack.status, response.text
    assert steward.desk.job_file.text == before
    assert "set-cookie" not in response.headers
    assert "census" not in response.text and steward.keys.path not in response.text
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    "place", ["/open?token=x", "/static/style.css", "{prefix}/data", "{prefix}/docs/columns", "/nowhere"]
)
def test_every_response_forbids_foreign_content_frames_referrers_and_stores(place, steward):
    response = steward.client.get(place.format(prefix=steward.keys.prefix))
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "server" not in response.headers


def test_the_cookie_is_bound_to_a_secret_path_and_kept_from_scripts_and_other_sites(newcomer):
    client = TestClient(
        newcomer.app, base_url=ADDRESS, follow_redirects=False, headers={"Sec-Fetch-Site": "same-origin"}
    )
    response = client.post("/enter", data={"token": newcomer.keys.make_link()})
    cookie = response.headers["set-cookie"]
    assert f"Path={newcomer.keys.prefix}/" in cookie
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert len(newcomer.keys.path) >= 32


def test_a_link_opens_the_studio_once_and_looking_at_it_does_not_use_it_up(newcomer):
    token = newcomer.keys.make_link()
    stranger = TestClient(newcomer.app, base_url=ADDRESS, headers={"Sec-Fetch-Site": "same-origin"})
    for _ in range(3):
        page = stranger.get("/open", params={"token": token})
        assert page.status_code == 200 and page.text.count("<button") == 1
    assert stranger.post("/enter", data={"token": token}).status_code == 200
    again = stranger.post("/enter", data={"token": token})
    assert again.status_code == 403 and "reticent studio" in again.text
    assert stranger.get("/open", params={"token": token}).status_code == 403


def test_a_link_is_forgotten_after_an_hour_and_only_a_few_are_open(monkeypatch):
    import time

    keys = Keys()
    token = keys.make_link()
    later = time.monotonic() + 3601
    monkeypatch.setattr("reticent.studio.guard.time.monotonic", lambda: later)
    assert not keys.knows_link(token)
    links = [keys.make_link() for _ in range(MAX_OPEN_LINKS + 3)]
    assert not keys.knows_link(links[0]) and keys.knows_link(links[-1])


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"[::1]:{PORT}", f"LOCALHOST:{PORT}"])
def test_our_own_names_with_our_port_are_answered(host, newcomer):
    assert newcomer.client.get("/static/style.css", headers={"Host": host}).status_code == 200


def test_a_second_host_header_is_refused():
    guard = Guard(None, Keys(), lambda: PORT)
    own = f"127.0.0.1:{PORT}".encode()
    scope = {"type": "http", "method": "GET", "path": "/open", "headers": [(b"host", own), (b"host", b"evil.example")]}
    assert guard.find_refusal(scope).status_code == 421


def test_an_old_browser_that_names_our_origin_is_served(steward):
    old = TestClient(steward.app, base_url=ADDRESS)
    headers = {"Origin": ADDRESS, "Cookie": f"{COOKIE}={steward.keys.cookie}"}
    fields = {"token": steward.keys.form, "screen": "data"}
    assert (
        old.post(f"{steward.keys.prefix}/job/undo", data=fields, headers=headers, follow_redirects=False).status_code
        == 303
    )


def test_a_body_without_a_length_ends_at_the_bound(steward):
    def parts():
        for _ in range(40):
            yield b"x" * 2**17

    response = steward.client.post(f"{steward.keys.prefix}/job/text", content=parts())
    assert response.status_code in (400, 403)


def test_markup_in_the_name_of_a_folder_and_in_the_job_is_shown_as_text(tmp_path):
    from tests.studio.client import Steward

    folder = tmp_path / "<script>alert(1)<"
    folder.mkdir()
    (folder / "job.toml").write_text('[columns]\n"<img src=x onerror=alert(2)>" = "sensitive"\n')
    user = Steward(folder)
    for screen in ("data", "columns", "promise", "publish"):
        page = user.look(screen)
        assert "<script>alert" not in page and "<img" not in page


def test_no_page_has_inline_script_inline_style_or_an_address_elsewhere(steward):
    for screen in (
        "data",
        "columns",
        "hierarchies",
        "promise",
        "compare",
        "publish",
        "attack",
        "use",
        "handout",
        "ledger",
    ):
        page = steward.look(screen)
        assert not re.search(r"<script(?![^>]*\bsrc=)", page) and not re.search(r"\son\w+=|\sstyle=|<style", page)
        assert not re.search(r'(?:href|src|action)="(?!/|#)', page)
        assert "hx-on" not in page and "hx-vals" not in page
