"""What episode pages are made of."""

import dataclasses

import pytest

from webserv.rollout.digest import digest_of
from webserv.rollout.episode import Assignment, EpisodeOptions, run_episode
from webserv.rollout.policies.interface import PolicyOutput
from webserv.testing.fake_env import FakeHost, FakePolicies, fake_task
from webserv.viewer.pages import Passage, episode_page, links, passages


async def record(actions=None, *, fault=None, pictures=False):
    host = FakeHost(faults=[fault], screenshot=(lambda page: b"x") if pictures else None)
    options = EpisodeOptions(keep_screenshot=lambda content, kind: "ab12.jpg")
    policies = FakePolicies(actions) if actions else FakePolicies()
    return await run_episode(host.make_env(), policies, Assignment(fake_task()), options)


async def test_a_card_shows_what_was_seen_and_what_was_then_done():
    page = episode_page(await record(['click("next")', "next()", "terminate()"], pictures=True), blobs="../b")
    assert [card.step.action if card.step else None for card in page.cards] == [
        'click("next")',
        "next()",
        "terminate()",
        None,
    ]
    assert [card.saw.url[-1] for card in page.cards] == ["0", "0", "1", "1"]
    assert page.cards[0].screenshot == "../b/ab/ab12.jpg"
    assert page.cards[0].box == "600,360,80,24"
    assert page.cards[1].box == ""
    assert page.outcome == "unsolved"


async def test_an_episode_whose_reset_failed_has_no_cards():
    page = episode_page(await record(fault="reset"), blobs="b")
    assert (page.cards, page.outcome) == ((), "unscored")


async def test_the_name_of_a_screenshot_cannot_lead_out_of_the_blobs():
    one = await record(pictures=True)
    evil = dataclasses.replace(one, first=dataclasses.replace(one.first, screenshot="../../etc/passwd"))
    assert episode_page(evil, blobs="b").cards[0].screenshot is None


@pytest.mark.parametrize(
    ("completion", "thought"),
    [
        ("I go on.\n```\nnext()\n```", "I go on."),
        ("I go on.\n```python\nnext()\n```\n", "I go on."),
        ("next()", ""),
        ("", ""),
        ("I go on.\nAction: next()", "I go on."),
        ("next() is what I do", "next() is what I do"),
    ],
)
async def test_a_thought_is_what_the_completion_says_beside_the_action(completion, thought):
    page = episode_page(await record([PolicyOutput("next()", completion=completion)]), blobs="b")
    assert page.cards[0].thought == thought


def test_lines_that_the_observation_before_did_not_have_are_new():
    assert passages("a\nb\nc", None) == [Passage("a\nb\nc", False)]
    assert passages("a\nx\n\ny\nb", "a\nb") == [
        Passage("a", False),
        Passage("x", True),
        Passage("", False),
        Passage("y", True),
        Passage("b", False),
    ]
    assert passages("", "a") == []


async def test_files_are_named_after_their_episode_and_never_collide():
    one = digest_of(await record())
    keys = ["shop/a-v1:3#0", "shop/a-v1:3#1", "shop/a-v1-3#0", "../../evil", "\ud800", "x" * 300, "x" * 301]
    files = [link.file for link in links([dataclasses.replace(one, key=key) for key in keys])]
    assert len(set(files)) == len(keys)
    assert files[0].startswith("shop-a-v1-3-0-")
    assert all("/" not in file and ".." not in file and len(file) < 100 and file.isascii() for file in files)


async def test_the_aim_is_what_the_observation_said_of_the_target():
    one = await record(['click("next")'])
    text = 'a [other] link "x" [next] button "Go\tto" disabled [last] link "y"\n[next] again'
    seen = dataclasses.replace(one, first=dataclasses.replace(one.first, text=text))
    assert episode_page(seen, blobs="b").cards[0].aim == '[next] button "Go\tto" disabled'
    gone = dataclasses.replace(one, first=dataclasses.replace(one.first, text="nothing"))
    assert episode_page(gone, blobs="b").cards[0].aim == ""
