"""Freesound's client: pages, repeated requests, refusals, and what must not be told."""

from __future__ import annotations

import pytest
from freesound_server import KEY, QUICK, FakeFreesound, connect

from cares.core.errors import InputError
from cares.sounds.freesound import client
from cares.sounds.freesound.client import Freesound, FreesoundError, Patience


def test_all_pages_are_read_once(fake: FakeFreesound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_PAGE", 2)
    for number in range(1, 6):
        fake.add(number, b"")
    with connect(fake) as service:
        assert [sound["id"] for sound in service.search("x", "y")] == [1, 2, 3, 4, 5]
    assert [search["page"] for search in fake.searches()] == ["1", "2", "3"]


@pytest.mark.parametrize("failure", [(429, {"Retry-After": "0"}), (503, {}), (500, {}), (408, {})])
def test_failures_that_pass_are_waited_for(fake: FakeFreesound, failure: tuple[int, dict[str, str]]) -> None:
    fake.add(1, b"")
    fake.failures = [failure] * 2
    with connect(fake) as service:
        assert service.sound(1)["id"] == 1
    assert len(fake.asked) == 3


def test_retry_after_is_kept_to(fake: FakeFreesound, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.add(1, b"")
    fake.failures = [(429, {"Retry-After": "7"}), (429, {"Retry-After": "700"})]
    pauses: list[float] = []
    monkeypatch.setattr("tenacity.nap.time.sleep", pauses.append)
    with Freesound(KEY, fake.url, Patience(attempts=4, first_pause_s=1, longest_pause_s=60)) as service:
        service.sound(1)
    assert pauses == [7.0, 60.0]


def test_failures_that_stay_end_with_a_message(fake: FakeFreesound) -> None:
    fake.failures = [(503, {})] * 9
    with connect(fake) as service, pytest.raises(FreesoundError, match=r"status 503 \(3 attempts\).*run again later"):
        service.sound(1)
    assert len(fake.asked) == 3
    gone = Freesound(KEY, "http://127.0.0.1:9/apiv2/", QUICK)
    with gone, pytest.raises(FreesoundError, match=r"127\.0\.0\.1:9.*\(3 attempts\)"):
        gone.sound(1)


@pytest.mark.parametrize("status", [400, 403, 302])
def test_a_refusal_is_not_repeated(fake: FakeFreesound, status: int) -> None:
    fake.failures = [(status, {"Location": "http://127.0.0.1:9/"})]
    with connect(fake) as service, pytest.raises(FreesoundError, match=rf"status {status}"):
        service.sound(1)
    assert len(fake.asked) == 1


@pytest.mark.parametrize("key", ["", "  ", "with\nline", "schlüssel"])
def test_without_a_usable_key_there_is_no_connection(fake: FakeFreesound, key: str) -> None:
    with pytest.raises(InputError, match=r"CARES_FREESOUND_KEY: got '\(no usable key\)'"):
        Freesound(key, fake.url)


@pytest.mark.parametrize("url", ["ftp://x/", "freesound.org", "http://user:pass@x/"])
def test_a_wrong_address_is_named_without_what_is_secret(url: str) -> None:
    with pytest.raises(InputError, match="CARES_FREESOUND_URL") as caught:
        Freesound(KEY, url)
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize("address", ["file:///etc/passwd", None, "", "ftp://x/1.ogg"])
def test_a_preview_is_fetched_from_the_web_alone(fake: FakeFreesound, address: str | None) -> None:
    with connect(fake) as service, pytest.raises(FreesoundError, match="no address of preview-hq-ogg"):
        service.preview({"id": 1, "previews": {"preview-hq-ogg": address}})


def test_an_answer_that_is_no_json_is_an_error(fake: FakeFreesound, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fake, "answer", lambda *_: (200, {}, b"<html>"))
    with connect(fake) as service:
        with pytest.raises(FreesoundError, match="no JSON object"):
            service.sound(1)
        monkeypatch.setattr(fake, "answer", lambda *_: (200, {}, b"{}"))
        with pytest.raises(FreesoundError, match="without results"):
            next(service.search("x", "y"))
