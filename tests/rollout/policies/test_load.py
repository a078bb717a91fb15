"""Policies by name."""

import sys
from importlib.metadata import EntryPoint

import pytest

from webserv.errors import UnknownName, UserError
from webserv.rollout.policies import load
from webserv.rollout.policies.load import close_policies, list_policies, load_policy
from webserv.testing.fake_env import FakePolicies


def make_fake(*, actions=None):
    return FakePolicies(tuple(actions or ()))


def make_any(**options):
    return FakePolicies(tuple(options))


def test_the_built_in_ones_load():
    for name in ("scripted", "near_miss", "random"):
        assert callable(load_policy(name))
    assert callable(load_policy("openai", model="m", base_url="http://127.0.0.1:1/v1", temperature=None))
    assert {"scripted", "near_miss", "random", "openai"} <= set(list_policies())


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(UnknownName, match=r"no policy 'scriptd'. Did you mean 'scripted'\? Known: near_miss"):
        load_policy("scriptd")


def test_an_option_that_the_policy_does_not_take_is_refused():
    with pytest.raises(UserError, match=r"'scripted' takes no option 'model'\. It takes: none"):
        load_policy("scripted", model="m")


def test_a_missing_option_is_named():
    with pytest.raises(UserError, match=r"'openai' needs model\. Give --model"):
        load_policy("openai")


def test_a_function_of_ones_own_is_loaded_from_the_working_directory(tmp_path, monkeypatch):
    (tmp_path / "my_own_agent.py").write_text(
        "from webserv.testing.fake_env import FakePolicies\n"
        "def make(*, steps): return FakePolicies(('next()',) * steps)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    factory = load_policy("my_own_agent:make", steps=2)
    assert factory.actions == ("next()", "next()")
    monkeypatch.delitem(sys.modules, "my_own_agent")


@pytest.mark.parametrize("name", ["no_such_module:make", "json:nothing", ":x", "json:__name__"])
def test_what_cannot_be_imported_is_refused(name):
    with pytest.raises(UserError, match=r"cannot be imported|not a function"):
        load_policy(name)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def make(:\n", r"cannot be imported: SyntaxError: .*\(faulty_agent.py, line 1\)\.$"),
        (
            "import math\n\nmath.sqrt(-1)\n",
            r": ValueError: math domain error \(.*faulty_agent.py, line 3\)\.$",
        ),
        ("import nowhere_at_all\n", r"No module named 'nowhere_at_all' \(.*faulty_agent.py, line 1\)\.$"),
        ("x = {}\nx['key']\n", r"cannot be imported: KeyError: 'key' \(.*faulty_agent.py, line 2\)\.$"),
    ],
)
def test_a_file_that_does_not_run_is_refused_in_one_line_that_says_where(tmp_path, monkeypatch, source, said):
    (tmp_path / "faulty_agent.py").write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(UserError, match=said) as caught:
        load_policy("faulty_agent:make")
    assert "\n" not in str(caught.value)


def test_a_missing_option_of_ones_own_policy_is_named(tmp_path, monkeypatch):
    (tmp_path / "wanting_agent.py").write_text("def make(words): return None\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(UserError, match=r"needs words\. Give --policy-option words=VALUE"):
        load_policy("wanting_agent:make")
    monkeypatch.delitem(sys.modules, "wanting_agent")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "os:getcwd",
            r"^Policy 'os:getcwd' returned a str, not a function that makes a policy per episode\. It must",
        ),
        ("builtins:dict", r"^Policy 'builtins:dict' "),
    ],
)
def test_what_makes_no_policies_is_refused_in_one_line(name, said):
    with pytest.raises(UserError, match=said) as caught:
        load_policy(name)
    assert "\n" not in str(caught.value)


def test_a_factory_that_raises_is_refused_in_one_line_that_says_where(tmp_path, monkeypatch):
    (tmp_path / "raising_agent.py").write_text("def make():\n    open('/nowhere/weights')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(
        UserError, match=r"cannot be made: FileNotFoundError: .*raising_agent.py, line 2\)\.$"
    ):
        load_policy("raising_agent:make")
    monkeypatch.delitem(sys.modules, "raising_agent")


def points(monkeypatch, **values):
    found = [EntryPoint(name, value, load.GROUP) for name, value in values.items()]
    monkeypatch.setattr(
        load,
        "entry_points",
        lambda group, name=None: [point for point in found if name in (None, point.name)],
    )


def test_installed_plug_ins_are_found(monkeypatch):
    points(monkeypatch, mine="webserv.testing.fake_env:FakePolicies")
    assert isinstance(load_policy("mine"), FakePolicies)
    assert "mine" in list_policies()


def test_a_plug_in_that_fails_to_load_says_so(monkeypatch):
    points(monkeypatch, bad="no_such_module:make")
    with (
        pytest.warns(UserWarning, match="'bad' failed to load"),
        pytest.raises(UserError, match=r"'bad' .no_such_module:make. failed to load"),
    ):
        load_policy("bad")
    assert callable(load_policy("random"))


async def test_a_factory_is_closed_if_it_can_be():
    await close_policies(FakePolicies())
    await close_policies(load_policy("openai", model="m", base_url="http://127.0.0.1:1/v1"))
