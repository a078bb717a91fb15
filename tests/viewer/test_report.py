"""The static report, written for a run with everything hostile in it and read in a real Chromium."""

import asyncio
import dataclasses
import errno
import shutil
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from webserv.browser.executable import find_executable
from webserv.errors import HostRefused
from webserv.rollout.episode import EpisodeOptions
from webserv.rollout.policies.interface import PolicyOutput
from webserv.rollout.runner import RunOptions, assign, run_all
from webserv.rollout.store import RunStore, read_digests
from webserv.rollout.summary import summarise
from webserv.testing.fake_env import FakeHost, FakePolicies, fake_task
from webserv.viewer.report import write_report

HOSTILE = '</pre><script>window.hacked=1</script><img src=x onerror="window.hacked=2">\'"&amp;{{ 7*7 }}\u202e\ud800\x00'
# A picture of one pixel in GIF's form: Chromium goes by the content, not by the name.
PIXEL = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b"
)


async def make_run(root: Path, *, count: int = 6, faults=(), repeat=1, screenshots=True, **changes) -> None:
    tasks = [
        fake_task(number, tags=("read" if number % 2 else "edit",), **changes) for number in range(count)
    ]
    output = PolicyOutput(
        'click("next")',
        completion='I try it.\n```\nclick("next")\n```',
        prompt=[{"role": "user", "content": "What now?"}],
        completion_tokens=7,
        prompt_tokens=70,
    )
    policies = FakePolicies((output, "next()", "next()", 'terminate("there")'))
    with RunStore.create(
        root, {"benchmark": "fake", "policy": "scripted", "seed": 0, "model": None}
    ) as store:
        options = EpisodeOptions(policy_name="scripted", keep_screenshot=store.blobs.put)
        host = FakeHost(faults=faults, screenshot=(lambda page: PIXEL) if screenshots else None)
        for record in await run_all(
            assign(tasks, repeat=repeat),
            make_env=host.make_env,
            make_policy=policies,
            options=RunOptions(retries=0, stop_after_failures=999),
            episode_options=options,
        ):
            store.add(record)


@pytest.fixture
async def chromium():
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=str(find_executable()), args=["--no-sandbox"]
        )
        yield browser
        await browser.close()


def broken(request):
    """A picture that a click to the next page cuts short is not."""
    return request.failure != "net::ERR_ABORTED"


@pytest.fixture
async def page(chromium):
    """A page whose complaints fail the test."""
    page = await chromium.new_page(viewport={"width": 1280, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    page.on("requestfailed", lambda request: broken(request) and complaints.append(f"failed: {request.url}"))
    page.on(
        "request",
        lambda request: request.url.startswith(("file:", "data:")) or complaints.append(request.url),
    )
    yield page
    assert complaints == []


async def test_the_report_says_what_came_of_the_run_and_what_is_in_no_mean(tmp_path):
    await make_run(tmp_path / "run", faults=[None, "step", None, "evaluator"])
    index = write_report(tmp_path / "run").read_text()
    assert "2 of 6 episodes have no reward (1 env, 1 evaluator)" in index
    assert "are in no mean" in index
    assert "4 of 4 scored episodes" in index
    assert len(list((tmp_path / "run/report/episodes").iterdir())) == 6


async def test_an_unfinished_run_says_how_to_go_on(tmp_path):
    await make_run(tmp_path / "run")
    summary = summarise(read_digests(tmp_path / "run").values(), planned=9)
    index = write_report(tmp_path / "run", summary).read_text()
    assert "6 of 9 episodes have a record" in index
    assert "webserv eval --resume" in index


async def test_an_empty_run_has_a_report_too(tmp_path):
    RunStore.create(tmp_path / "run", {}).close()
    assert "0 of 0 scored" in write_report(tmp_path / "run").read_text()
    (tmp_path / "run/run.json").unlink()
    assert write_report(tmp_path / "run").exists()


async def test_a_new_report_replaces_the_old_one(tmp_path):
    await make_run(tmp_path / "run", count=1)
    write_report(tmp_path / "run")
    (tmp_path / "run/report/old.html").write_text("")
    write_report(tmp_path / "run")
    assert not (tmp_path / "run/report/old.html").exists()
    assert not (tmp_path / "run/.report.new").exists()


async def test_a_full_disk_is_one_line_and_leaves_no_half_report(tmp_path, monkeypatch):
    await make_run(tmp_path / "run", count=1)
    write_report(tmp_path / "run")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(HostRefused, match=r"The disk of .* is full"):
        write_report(tmp_path / "run")
    assert not (tmp_path / "run/.report.new").exists()
    assert (tmp_path / "run/report/index.html").exists()


async def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    await make_run(tmp_path / "run", count=1)
    (tmp_path / "run/.report.new").write_text("in the way")
    with pytest.raises(HostRefused, match="Cannot write"):
        write_report(tmp_path / "run")


@pytest.mark.browser
async def test_every_link_leads_somewhere_without_complaints(tmp_path, page):
    await make_run(tmp_path / "run", faults=["reset", "step"], repeat=2)
    index = write_report(tmp_path / "run")
    await page.goto(index.as_uri())
    links = await page.eval_on_selector_all("a[href]", "nodes => nodes.map(node => node.href)")
    assert len(links) == 12
    for link in links:
        await page.goto(link)
        back = await page.eval_on_selector_all(
            "a[href]", "nodes => nodes.map(node => node.href.split('#')[0])"
        )
        assert all(Path(address.removeprefix("file://")).exists() for address in back)


@pytest.mark.browser
async def test_the_moved_folder_shows_its_screenshots(tmp_path, page):
    await make_run(tmp_path / "run")
    write_report(tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "moved")
    await page.goto((tmp_path / "moved/report/index.html").as_uri())
    await page.click("tbody .task a")
    await page.wait_for_function("[...document.images].every(image => !image.src || image.naturalWidth > 0)")
    assert await page.locator(".shot").count() == 5


@pytest.mark.browser
async def test_hostile_text_stays_text(tmp_path, page):
    root = tmp_path / "run"
    with RunStore.create(root, {"benchmark": HOSTILE, "policy": HOSTILE, "model": HOSTILE}) as store:
        output = PolicyOutput(HOSTILE, completion=HOSTILE, prompt=[{"role": HOSTILE, "content": HOSTILE}])
        task = fake_task(intent=HOSTILE, tags=(HOSTILE,), template=HOSTILE, id=HOSTILE)
        [record] = await run_all(
            assign([task]), make_env=FakeHost().make_env, make_policy=FakePolicies((output, output))
        )
        first = dataclasses.replace(
            record.first, text=HOSTILE, title=HOSTILE, url="javascript:alert(1)" + HOSTILE
        )
        steps = tuple(
            dataclasses.replace(
                step,
                extra={"reasoning": HOSTILE},
                observation=dataclasses.replace(step.observation, text=HOSTILE, dialog=HOSTILE, url=HOSTILE),
            )
            for step in record.steps
        )
        score = dataclasses.replace(record.score, evidence=(HOSTILE,))
        record = dataclasses.replace(
            record,
            first=first,
            steps=steps,
            score=score,
            answer=HOSTILE,
            blocked=(HOSTILE,),
            failure_detail=HOSTILE,
        )
        store.add(record)
    index = write_report(root)
    for address in (index, *(root / "report/episodes").iterdir()):
        await page.goto(address.as_uri())
        assert await page.evaluate("window.hacked") is None
        assert await page.locator("main script, img[onerror], a[href^='javascript:']").count() == 0
        assert "49" not in await page.title()
    text = await page.inner_text("main")
    assert "<script>window.hacked=1</script>" in text
    assert "{{ 7*7 }}" in text
    # What the policy saw is all there, its invalid characters replaced.
    seen = await page.locator("pre.observation").first.text_content()
    assert seen.startswith("</pre><script>")


@pytest.mark.browser
async def test_episodes_are_filtered_and_sorted(tmp_path, page):
    await make_run(tmp_path / "run", faults=[None, "step"])
    await page.goto(write_report(tmp_path / "run").as_uri())
    rows = page.locator("table.episodes tbody tr:visible")
    assert await rows.count() == 6
    await page.get_by_role("button", name="no reward").click()
    assert await rows.count() == 1
    assert page.url.endswith("#episodes?outcome=unscored")
    await page.reload()
    assert await rows.count() == 1
    await page.locator(".chips").get_by_role("button", name="all").click()
    await page.fill("#filter", "READ walk")
    assert await rows.count() == 3
    await page.fill("#filter", "nothing like it")
    assert await page.get_by_text("No episode matches.").is_visible()
    await page.fill("#filter", "")
    await page.get_by_role("button", name="Task", exact=True).click()
    first = rows.first.locator(".id")
    assert await first.inner_text() == "fake/walk-v1:0"
    await page.get_by_role("button", name="Task", exact=True).click()
    assert await first.inner_text() == "fake/walk-v1:5"
    await page.get_by_role("button", name="Outcome").click()
    assert await rows.last.get_attribute("data-outcome") == "unscored"


@pytest.mark.browser
async def test_keys_go_through_steps_and_episodes(tmp_path, page):
    await make_run(tmp_path / "run", count=3)
    await page.goto(write_report(tmp_path / "run").as_uri())
    await page.click("text=fake/walk-v1:1")
    await page.wait_for_url("**/fake-walk-v1-1-*")
    for _ in range(2):
        await page.keyboard.press("j")
    assert await page.evaluate("document.activeElement.id") == "step-2"
    await page.keyboard.press("k")
    assert await page.evaluate("document.activeElement.id") == "step-1"
    await page.keyboard.press("o")
    assert await page.locator("details.text:not([open])").count() == 0
    await page.keyboard.press("ArrowRight")
    await page.wait_for_url("**/fake-walk-v1-2-*")
    await page.keyboard.press("ArrowLeft")
    await page.wait_for_url("**/fake-walk-v1-1-*")
    await page.keyboard.press("Escape")
    await page.wait_for_url("**/index.html#episodes")


@pytest.mark.browser
async def test_the_target_of_an_action_is_drawn_on_the_screenshot_and_a_click_enlarges_it(tmp_path, page):
    await make_run(tmp_path / "run", count=1)
    await page.goto(write_report(tmp_path / "run").as_uri())
    await page.click("tbody .task a")
    # The box lies at 600, 360; the stand-in picture is one pixel large, so there it is out of sight.
    assert await page.locator(".target").count() == 0
    assert await page.locator(".away").inner_text() == "↓ target further down"
    assert await page.locator(".aim").inner_text() == '[next] button "Next"'
    assert await page.locator(".shot[data-box='600,360,80,24']").count() == 1
    await page.locator(".shot").first.click()
    assert await page.locator("dialog.large").is_visible()
    await page.locator("dialog.large").click()
    assert not await page.locator("dialog.large").is_visible()


@pytest.mark.browser
async def test_light_and_dark_follow_the_system_and_the_button(tmp_path, page):
    await make_run(tmp_path / "run", count=1)
    await page.emulate_media(color_scheme="dark")
    await page.goto(write_report(tmp_path / "run").as_uri())
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = await page.evaluate(colour)
    await page.click(".theme")
    assert await page.evaluate(colour) != dark
    await page.emulate_media(color_scheme="light")
    await page.click(".theme")
    assert await page.evaluate(colour) == dark


async def test_a_thousand_episodes_are_written(tmp_path):
    await make_run(tmp_path / "run", count=1000)
    index = await asyncio.to_thread(write_report, tmp_path / "run")
    assert len(list((tmp_path / "run/report/episodes").iterdir())) == 1000
    assert "1\u202f000" in index.read_text()
