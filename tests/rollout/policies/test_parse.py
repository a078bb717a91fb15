"""Finding the action in a completion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webserv.rollout.policies.parse import action_of


@pytest.mark.parametrize(
    ("completion", "action"),
    [
        ('I click.\n```\nclick("a")\n```', 'click("a")'),
        ('```click("a")```', 'click("a")'),
        ('``` click("a") ```', 'click("a")'),
        ('```python\nclick("a")\n```\n', 'click("a")'),
        ('```\nclick("a")\n```\nNo, better:\n```\nclick("b")\n```', 'click("b")'),
        ('```\nclick("a")\n```\n```\n```', 'click("a")'),
        ('```json\n{"action": "click",\n "target": "a"}\n```', '{"action": "click",\n "target": "a"}'),
        ('```\nAction: click("a")\n```', 'click("a")'),
        ('Thought: hm\nAction: click("a")', 'click("a")'),
        ('**Action:** `click("a")`', 'click("a")'),
        ('action: click("a")\nAction: click("b")', 'click("b")'),
        ('I will do this:\nclick("a")', 'click("a")'),
        ('`click("a")`', 'click("a")'),
        ('click("a").', 'click("a")'),
        ('<think>```\nclick("no")\n```</think>\n```\nclick("a")\n```', 'click("a")'),
        ('<think>Action: click("no")</think>Action: click("a")', 'click("a")'),
        ('type("a", "it (really)", enter=true)', 'type("a", "it (really)", enter=true)'),
        ("I am lost.", "I am lost."),
        ("", ""),
        ("```\n```", "```\n```"),
        ('```\nclick("a")', 'click("a")'),
    ],
)
def test_the_action_is_found(completion, action):
    assert action_of(completion) == action


@given(st.text())
def test_any_text_has_an_answer(text):
    assert isinstance(action_of(text), str)


@given(st.text(alphabet="`ab \n:*_-#>Action()", max_size=400))
def test_hostile_text_has_an_answer_in_time(text):
    assert len(action_of(text * 20)) <= 20_000
