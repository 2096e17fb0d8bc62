"""The one-file page, opened in a headless Chromium: what it shows, that it asks for nothing."""

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, find_browser
from PIL import Image
from synthetic import CROWD_WEIGHTS, CubePlay

from cognitive.errors import ConfigError
from render import page
from render.page import page_data, write_page
from render.replay import open_run

READY_WITHIN = 5.0


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium, to open pages in it")
    browser = Browser(path, tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


def visit(browser: Browser, path: Path) -> None:
    """Open a page and see that it is ready in time, without complaint and without a request."""
    browser.problems.clear()
    browser.requests.clear()
    seconds = browser.open(path)
    assert browser.run("document.documentElement.dataset.state") == "ready", browser.problems
    assert seconds < READY_WITHIN, f"ready after {seconds:.1f} s"


def stayed_quiet(browser: Browser, path: Path) -> None:
    asked = [url for url in browser.requests if not url.startswith("data:")]
    assert asked == [path.resolve().as_uri()]
    assert browser.problems == []


def scrub(browser: Browser, step: int) -> None:
    browser.run(
        f"(() => {{ const bar = document.getElementById('scrubber'); bar.value = {step};"
        "bar.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def check_positions(browser: Browser, run, steps) -> None:
    for step in steps:
        scrub(browser, step)
        assert browser.run("document.documentElement.dataset.step") == str(step)
        layers = run.redraw(step)
        for name in page.DRAWN_LAYERS:
            if name in layers:
                shown = browser.run(f"Array.from(cooplab.run.now.{name})")
                assert shown == layers[name].reshape(-1).tolist(), f"{name} of step {step}"
        row, column = layers["agent_cell"][0].tolist()
        assert f"({row},{column})" in browser.run(
            "document.getElementById('chosen-cell').innerText"
        )


@pytest.fixture
def opened(browser, run, tmp_path):
    path = write_page(run, tmp_path / "page.html")
    visit(browser, path)
    browser.prefer("light")
    browser.resize(1280, 800)
    yield browser
    stayed_quiet(browser, path)


def test_the_scrubber_shows_the_frames_of_any_step(opened, run):
    facts = opened.run("({...document.documentElement.dataset})")
    assert (facts["steps"], facts["agents"]) == ("40", str(run.agents))
    check_positions(opened, run, (13, 40, 0, 7, 39))


def test_keys_do_what_the_window_does(opened, run):
    def step() -> int:
        return int(opened.run("document.documentElement.dataset.step"))

    for key, shift, due in [
        ("ArrowRight", False, 1),
        ("ArrowRight", True, 11),
        ("ArrowLeft", False, 10),
        ("End", False, 40),
        ("Home", False, 0),
    ]:
        opened.press(key, shift)
        assert step() == due, key
    story = run.story
    marks = [channel.step for channel in story.channels] + [score.step for score in story.scores]
    marks += [step for step, _, _ in story.failures]
    opened.press("n")
    assert step() == min(mark for mark in marks if mark > 0)
    for key, tab in (("m", "messages"), ("r", "repair"), ("p", "agent")):
        opened.press(key)
        shown = opened.run(
            "[...document.querySelectorAll('[role=tabpanel]')].filter((p) => !p.hidden)"
            ".map((p) => p.id)"
        )
        assert shown == [f"tab-{tab}"]
    opened.press(" ")
    assert opened.run("cooplab.page.playing") is True
    opened.press(" ")
    assert opened.run("cooplab.page.playing") is False
    before = opened.run("cooplab.page.speed")
    opened.press("+")
    assert opened.run("cooplab.page.speed") == before + 1
    opened.press("h")
    assert opened.run("document.getElementById('help').open") is True
    opened.press("Escape")


def test_tab_goes_round_the_agents_on_the_map_only(opened, run):
    opened.run("document.getElementById('map').focus()")
    seen = []
    for _ in range(run.agents):
        opened.press("Tab")
        seen.append(opened.run("cooplab.page.view.chosen"))
    assert seen == [*range(1, run.agents), 0]
    opened.press("Escape")
    opened.press("Tab")
    assert opened.run("cooplab.page.view.chosen") == 0


def test_playing_ends_at_the_last_step(opened):
    opened.run("cooplab.page.setSpeed(9); cooplab.page.go(20); cooplab.page.play(true)")
    opened.run("new Promise((done) => setTimeout(done, 900))")
    assert opened.run("document.documentElement.dataset.step") == "40"
    opened.run("new Promise((done) => setTimeout(done, 100))")
    assert opened.run("cooplab.page.playing") is False


def test_messages_are_filtered_and_lead_to_their_step(opened, run):
    opened.press("m")
    scrub(opened, 40)
    opened.run(
        "(() => { document.getElementById('filter-kind').value = 'repair_statement';"
        "document.getElementById('filter-agent').value = 0;"
        "document.getElementById('filters').dispatchEvent(new Event('input')); })()"
    )
    due = [
        m
        for m in run.story.messages
        if m.kind == "repair_statement" and 0 in (m.sender, *m.recipients)
    ]
    cards = opened.run("document.querySelectorAll('#message-list .message').length")
    assert cards == len(due) > 0
    opened.run("document.querySelector('#message-list .message').click()")
    assert int(opened.run("document.documentElement.dataset.step")) == due[-1].step


def test_a_channel_is_told_whole(opened, run):
    channel = run.story.channels[1]
    scrub(opened, channel.step)
    opened.press("r")
    text = opened.run("document.getElementById('tab-repair').innerText")
    for part in (
        channel.label,
        channel.task,
        channel.outcome,
        "synchronise",
        "1 of 8",
        "8 of 8",
        "I can be at",
        "verdict",
        "before",
        "wave 1",
    ):
        assert part.lower() in text.lower(), f"{part!r} is missing"


def test_the_chosen_agent_is_told_with_plan_and_past(opened, run):
    scrub(opened, 30)
    opened.run("cooplab.page.choose(1)")
    text = opened.run("document.getElementById('tab-agent').innerText")
    plan = run.story.plan_at(1, 30)
    for part in ("agent_1", plan.task, plan.id, plan.actions[0].text, plan.note):
        assert part in text, f"{part!r} is missing"
    ended = run.story.last_ended(1, 30)
    assert ended.status in text


def test_the_summary_shows_metrics_and_config(opened):
    opened.run("cooplab.page.showTab('summary')")
    text = opened.run("document.getElementById('tab-summary').innerText")
    for part in ("score", "violation_spatial", "–", '"schema": 1'):
        assert part in text, f"{part!r} is missing"


def test_light_and_dark_follow_the_system_and_the_button(opened, tmp_path):
    means = {}
    for scheme in ("light", "dark"):
        opened.prefer(scheme)
        opened.run("new Promise((done) => setTimeout(done, 100))")
        means[scheme] = np.array(Image.open(opened.shot(tmp_path / f"{scheme}.png"))).mean()
    assert means["dark"] < 110 < 150 < means["light"], means
    opened.run("document.getElementById('theme').click()")
    assert opened.run("document.documentElement.dataset.theme") == "light"


def test_everything_has_its_place_in_a_small_window(opened):
    for width, height in ((1024, 700), (1920, 1080)):
        opened.resize(width, height)
        opened.run("new Promise((done) => setTimeout(done, 100))")
        assert opened.run("document.documentElement.scrollWidth") <= width
        outside = opened.run(
            "[...document.querySelectorAll('button, #map, #scrubber, #timeline, [role=tab]')]"
            ".filter((e) => e.offsetParent).map((e) => [e.id, e.getBoundingClientRect()])"
            f".filter(([, b]) => b.right > {width} + 1 || b.bottom > {height} + 1 || b.left < 0)"
            ".map(([id]) => id)"
        )
        assert outside == [], f"{outside} outside {width} x {height}"
        canvas = opened.run("document.getElementById('map').getBoundingClientRect().height")
        assert canvas > height * 0.4


def test_the_map_is_drawn_and_agents_can_be_clicked(opened, run, tmp_path):
    opened.run("cooplab.page.jump(13)")
    box = opened.run("document.getElementById('map').getBoundingClientRect().toJSON()")
    picture = np.array(Image.open(opened.shot(tmp_path / "a.png")).convert("RGB"))
    part = picture[int(box["top"]) : int(box["bottom"]), int(box["left"]) : int(box["right"])]
    assert len(np.unique(part.reshape(-1, 3), axis=0)) > 50
    x, y = opened.run("cooplab.page.map.pixel(...cooplab.run.cell(2))")
    opened.click(box["left"] + x, box["top"] + y)
    assert opened.run("cooplab.page.view.chosen") == 2
    opened.hover(box["left"] + x, box["top"] + y)
    assert "agent_2" in opened.run("document.getElementById('tip').innerText")


EVIL = '<img id=evil src=x onerror="window.evil=1"></script><script>window.evil=1</script>'


def test_text_of_models_is_text(browser, tmp_path):
    """Whatever a model writes, in messages, tasks or notes, is shown and never run."""
    play = CubePlay(agents=3, steps=9, seed=1)
    folder = play.write(tmp_path / "a<b>&run")
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    for line in lines:
        for name in ("text", "note"):
            if isinstance(line.get(name), str):
                line[name] = EVIL
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "events.jsonl").write_text(text)
    path = write_page(open_run(folder), tmp_path / "page.html")
    visit(browser, path)
    assert browser.run("document.title") == "a<b>&run – cooplab"
    for step in range(10):
        scrub(browser, step)
        for tab in ("agent", "messages", "repair"):
            browser.run(f"cooplab.page.showTab('{tab}')")
            assert browser.run("document.getElementById('evil')") is None
    browser.run("cooplab.page.showTab('messages')")
    assert EVIL in browser.run("document.getElementById('message-list').innerText")
    assert browser.run("window.evil") is None
    stayed_quiet(browser, path)


def test_a_browser_that_is_too_old_is_told_so(browser, run, tmp_path):
    path = write_page(run, tmp_path / "page.html")
    script = browser.call(
        "Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream"
    )
    browser.open(path)
    browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])
    assert browser.run("document.documentElement.dataset.state") == "failed"
    assert "DecompressionStream" in browser.run("document.getElementById('notice').innerText")


def test_256_agents_over_200_steps_fit_and_open_in_time(browser, tmp_path):
    play = CubePlay(agents=256, steps=200, seed=3, side=256, weights=CROWD_WEIGHTS)
    run = open_run(play.write(tmp_path / "crowd"))
    assert len(run.story.messages) > 5000
    path = write_page(run, tmp_path / "page.html")
    size = path.stat().st_size
    assert size < 10_000_000, f"{size} bytes"
    visit(browser, path)
    facts = browser.run("({...document.documentElement.dataset})")
    assert (facts["steps"], facts["agents"]) == ("200", "256")
    check_positions(browser, run, (199, 3, 120))
    for tab in ("agent", "messages", "repair"):
        browser.run(f"cooplab.page.showTab('{tab}')")
        elements = browser.run("document.querySelectorAll('*').length")
        assert elements < 2500, f"{elements} elements with {tab}"
    assert browser.run("document.getElementById('timeline').height") < 400
    browser.run("cooplab.page.choose(200)")
    shown = browser.run("document.getElementById('lanes').scrollTop")
    assert 200 * 12 - 200 < shown <= 200 * 12
    stayed_quiet(browser, path)


def content(path: Path) -> dict:
    text = re.search(r'id="data">([^<]+)<', path.read_text()).group(1)
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_a_page_that_would_be_too_large_cuts_texts_and_nothing_else(run, tmp_path, monkeypatch):
    whole = page_data(run)
    sizes = {limit: len(page._page(run, page_data(run, limit))) for limit in (None, 40, 0)}
    assert sizes[None] > sizes[40] > sizes[0]
    for limit, room in ((None, sizes[None]), (40, sizes[40]), (0, sizes[40] - 1), (0, 1000)):
        monkeypatch.setattr(page, "SIZE_LIMIT", room)
        data = content(write_page(run, tmp_path / "page.html"))
        assert data.pop("textLimit") == limit
        longest = max(len(text) for text in data["texts"])
        assert longest <= (limit if limit is not None else 10**6)
        for name in whole.keys() - {"textLimit", "texts", "messages"}:
            assert data[name] == json.loads(json.dumps(whole[name])), name
        assert len(data["messages"]) == len(whole["messages"])


def test_a_cut_page_says_so(browser, run, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "SIZE_LIMIT", len(page._page(run, page_data(run, 40))))
    path = write_page(run, tmp_path / "page.html")
    visit(browser, path)
    assert "cut to 40 characters" in browser.run("document.getElementById('notice').innerText")


def test_equal_runs_give_equal_pages_that_ask_for_nothing(run, tmp_path):
    one = write_page(run, tmp_path / "a.html").read_bytes()
    assert write_page(run, tmp_path / "b.html").read_bytes() == one
    text = one.decode()
    policy = (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
    )
    assert f'content="{policy}"' in text
    assert not re.search(r"https?://|src=|@import|innerHTML|insertAdjacent|document\.write", text)


def test_a_place_that_cannot_be_written_is_named(run, tmp_path):
    with pytest.raises(ConfigError, match="cannot be written"):
        write_page(run, tmp_path / "nowhere" / "page.html")
