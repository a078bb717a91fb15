"""`webserv eval` with a host of fakes: what is run, written, printed, resumed and refused."""

from __future__ import annotations

import contextlib
import json
import signal

import pytest

from webserv.cli import eval as eval_command
from webserv.cli import rollouts
from webserv.cli.main import _run
from webserv.errors import UnknownName
from webserv.rollout.frames import FrameWriter
from webserv.rollout.store import read_digests
from webserv.tasks.benchmark import Benchmark
from webserv.testing.chat_server import ChatServer, completion, error
from webserv.testing.fake_env import FakeHost, fake_task


def reference(task, observation):
    yield "next()"
    yield "next()"
    yield 'terminate("there")'


def near_miss(task, observation):
    yield "terminate()"


@pytest.fixture
def host(monkeypatch, tmp_path):
    """The fake host that the command opens; the working directory is the test's own."""
    host = FakeHost()
    tasks = tuple(
        fake_task(
            number,
            id=f"fake/{template}-v1:{number}",
            template=f"fake/{template}-v1",
            reference=reference,
            near_miss=near_miss,
            tags=(template, "all"),
        )
        for template in ("walk", "run")
        for number in range(3)
    )
    benchmark = Benchmark("fake", "for tests", ("fake",), tasks)
    monkeypatch.setattr(eval_command, "load_benchmark", lambda name: benchmark)
    host.opened_with = []

    @contextlib.asynccontextmanager
    async def open_host(**options):
        host.opened_with.append(options)
        yield host

    monkeypatch.setattr(rollouts, "EnvHost", open_host)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return host


def run(*arguments):
    return _run(["eval", "--benchmark", "fake", *arguments])


def rewards(root):
    return {key: digest.reward for key, digest in read_digests(root).items()}


def test_a_run_leaves_records_summary_and_report_and_prints_the_summary_on_stdout(host, tmp_path, capsys):
    assert run("--workers", "2", "--out", "out") == 0
    said = capsys.readouterr()
    assert sorted(rewards(tmp_path / "out")) == sorted(
        f"fake/{t}-v1:{n}#0" for t in ("run", "walk") for n in range(3)
    )
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["total"]["success"], summary["complete"], summary["steps"]) == (1.0, True, 18)
    assert (tmp_path / "out/report/index.html").exists()
    assert "fake/walk-v1" in said.out
    assert "100 %" in said.out
    assert "out/report/index.html" in said.out
    assert "[6/6] solved" in said.err
    assert "solved" not in said.out.split("template")[0]
    assert host.opened == 0


def test_the_config_holds_what_decides_the_results_and_no_secret(host, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-secret")
    with ChatServer([completion('```\nterminate("x")\n```')]) as server:
        address = server.base_url.replace("http://", "http://me:hunter2@")
        options = ("--model", "m", "--base-url", address, "--api-key-env", "MY_KEY", "--limit", "1")
        assert run("--policy", "openai", "--out", "out", *options) == 0
        assert server.headers[0]["Authorization"].startswith("Basic ")  # a name in the address comes first
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert b"sk-secret" not in path.read_bytes()
            assert b"hunter2" not in path.read_bytes()
    config = json.loads((tmp_path / "out/run.json").read_text())["config"]
    assert (config["model"], config["limit"], config["seed"]) == ("m", 1, 0)


def test_tasks_can_be_chosen_limited_and_repeated(host, tmp_path):
    assert run("--out", "a", "--tasks", "walk", "--limit", "2", "--repeat", "2") == 0
    assert sorted(rewards(tmp_path / "a")) == [f"fake/walk-v1:{n}#{k}" for n in (0, 1) for k in (0, 1)]
    assert run("--out", "b", "--limit", "2", "--no-screenshots") == 0
    assert sorted(rewards(tmp_path / "b")) == ["fake/run-v1:0#0", "fake/walk-v1:0#0"]
    assert host.opened_with[1]["browser"].screenshots is False


def test_the_budget_can_be_changed(host, tmp_path):
    assert run("--out", "out", "--max-steps", "1", "--limit", "1") == 0
    assert rewards(tmp_path / "out") == {"fake/walk-v1:0#0": 0.5}


def test_the_default_folder_names_time_benchmark_and_policy(host, tmp_path):
    assert run("--policy", "near_miss", "--limit", "1") == 0
    [folder] = (tmp_path / "runs").iterdir()
    assert folder.name.endswith("-fake-near_miss")


def test_workers_have_worlds_to_spare(host):
    assert run("--workers", "16", "--out", "out", "--engine", "process", "--start-mode", "boot") == 0
    opened = host.opened_with[0]
    assert (opened["max_worlds"], opened["engine"], opened["start_mode"]) == (20, "process", "boot")


def test_episodes_without_a_reward_are_said_to_be_in_no_mean_and_do_not_fail_the_run(host, capsys):
    host._left = iter(["evaluator"])
    assert run("--out", "out", "--workers", "1") == 0
    said = capsys.readouterr()
    assert "1 without a reward (1 evaluator). Episodes without a reward" in said.out
    assert "evaluator failure fake/walk-v1:0#0" in said.err


def test_resume_runs_only_what_has_no_reward_with_the_options_of_the_run(host, tmp_path, capsys):
    host._left = iter(["step", "step", None, "evaluator"])
    assert run("--out", "out", "--workers", "1", "--seed", "3", "--tasks", "walk") == 0
    first = rewards(tmp_path / "out")
    assert sorted(first.values(), key=str) == [1.0, None, None]
    host.resets.clear()
    assert run("--resume", "--out", "out") == 0
    assert "1 of 3 are finished already" in capsys.readouterr().err
    assert [seed for _, seed in host.resets] == [3, 3]
    digests = read_digests(tmp_path / "out")
    assert {digest.reward for digest in digests.values()} == {1.0}
    assert len(digests["fake/walk-v1:0#0"].attempts) == 2


def test_resuming_a_finished_run_opens_no_host_and_writes_the_report_anew(host, tmp_path):
    assert run("--out", "out", "--limit", "1") == 0
    (tmp_path / "out/report/index.html").unlink()
    assert run("--resume", "--out", "out") == 0
    assert len(host.opened_with) == 1
    assert (tmp_path / "out/report/index.html").exists()


def test_resuming_with_another_option_is_refused_by_name(host, capsys):
    assert run("--out", "out", "--limit", "1") == 0
    assert run("--resume", "--out", "out", "--seed", "1") == 1
    assert "was made with seed = 0, not 1." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--resume",), 2, "--resume needs --out"),
        (("--resume", "--out", "absent"), 1, "There is no run in 'absent'"),
        (("--policy", "scriptd"), 1, "Did you mean 'scripted'?"),
        (("--policy", "openai"), 1, "'openai' needs model. "),
        (("--policy", "openai", "--model", "m"), 1, "OPENAI_API_KEY is empty"),
        (("--policy", "openai", "--model", "m", "--base-url", "nowhere"), 1, "is no address of an endpoint"),
        (("--model", "m"), 1, "'scripted' takes no option 'model'"),
        (("--tasks", "nothing*"), 1, "There is no task 'nothing*'"),
        (("--workers", "0"), 2, "Invalid value for '--workers'"),
        (("--policy-option", "x"), 1, "'x' is no option of a policy"),
        (("--out", "."), 1, "is not empty (it holds 'letter.txt')"),
    ],
)
def test_what_a_user_can_get_wrong_is_one_line(host, tmp_path, capsys, arguments, code, said):
    (tmp_path / "letter.txt").write_text("mine")
    assert run(*arguments) == code
    err = capsys.readouterr().err
    assert said in err.replace("\nhint:", "")
    assert "Traceback" not in err
    assert host.opened_with == []
    assert not (tmp_path / "runs").exists()


def test_a_start_that_is_refused_leaves_no_folder_in_the_way(host, tmp_path, monkeypatch, capsys):
    opened = rollouts.EnvHost

    def refuse(**options):
        raise UnknownName("engine", options["engine"], ["native"])

    monkeypatch.setattr(rollouts, "EnvHost", refuse)
    assert run("--engine", "foo", "--out", "new/out") == 1
    assert "There is no engine 'foo'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(rollouts, "EnvHost", opened)
    (tmp_path / "new/out").mkdir(parents=True)
    with ChatServer([error(401, "expired")]) as server:
        options = ("--model", "m", "--base-url", server.base_url)
        assert run("--policy", "openai", "--out", "new/out", *options) == 1
    assert list((tmp_path / "new/out").iterdir()) == []
    assert run("--out", "new/out", "--limit", "1") == 0


def test_a_resume_that_is_refused_leaves_the_run_as_it_is(host, tmp_path, monkeypatch):
    host._left = iter(["evaluator"])
    assert run("--out", "out", "--limit", "1") == 0

    def refuse(**options):
        raise UnknownName("engine", options["engine"], ["native"])

    monkeypatch.setattr(rollouts, "EnvHost", refuse)
    assert run("--resume", "--out", "out", "--engine", "foo") == 1
    assert rewards(tmp_path / "out") == {"fake/walk-v1:0#0": None}
    assert (tmp_path / "out/run.json").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "'out/run.json' describes no run: it holds a list."),
        ('{"schema": 1, "config": 5}', "'out/run.json' describes no run: its config is a int."),
        ('{"schema": 1}', "its config is a NoneType."),
        ('{"schema": 2, "config": {}}', "has schema 2; this WebServ reads 1."),
        ('{"schema": 1, "config": {"tasks": 5}}', "'out/run.json' has tasks = 5: Input should be a valid"),
        ('{"schema": 1, "config": {"limit": "x"}}', 'has limit = "x": Input should be a valid integer'),
        ('{"schema": 1, "config": [["a"]]}', "'out/run.json' describes no run: its config is a list."),
        ('{"schema": 1, "config": {"tasks": null}}', "has tasks = null: Input should be a valid array"),
        (
            '{"schema": 1, "config": {"tasks": [["a"]]}}',
            'has tasks = [["a"]]: Input should be a valid string',
        ),
        ('{"schema": 1, "config": {"limit": 0}}', "has limit = 0: 0 is not in the range x>=1."),
        ('{"schema": 1, "config": {"repeat": -2}}', "has repeat = -2: -2 is not in the range x>=1."),
        ('{"schema": 1, "config": {"temperature": NaN}}', "has temperature = NaN: "),
        ('{"schema": 1, "config": {"seed": 1.5}}', "has seed = 1.5: Input should be a valid integer"),
        (
            '{"schema": 1, "config": {"policy_options": 5}}',
            "has policy_options = 5: Input should be an object",
        ),
        ("[" * 99999, "'out/run.json' "),
        ("{", "'out/run.json' cannot be read: Expecting property name"),
        (b"\xff", "'out/run.json' cannot be read: 'utf-8' codec"),
    ],
)
def test_a_run_file_that_is_damaged_is_one_line(host, tmp_path, capsys, content, said):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/run.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert run("--resume", "--out", "out") == 1
    err = capsys.readouterr().err
    assert said in err
    assert "Traceback" not in err


def test_a_record_of_a_newer_webserv_is_one_line(host, tmp_path, capsys):
    assert run("--out", "out", "--limit", "1") == 0
    writer = FrameWriter(tmp_path / "out/episodes.jsonl.zst")
    writer.append(b'{"schema": 2}\n')
    writer.close()
    capsys.readouterr()
    assert run("--resume", "--out", "out") == 1
    err = capsys.readouterr().err
    assert (
        "of 'out/episodes.jsonl.zst' cannot be read. The record has schema 2; this WebServ reads schema 1."
        in err
    )
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"hello\n", "This is no episode record: JSONDecodeError"),
        (b'{"a": 5}', "This is no episode record: KeyError('schema')"),
        (b'{"schema": 1, "key": "k"}', "The episode record is damaged: KeyError("),
        (b"[" * 99999, "This is no episode record: RecursionError"),
        (b'{"schema": "x"}', "The record has schema x"),
    ],
)
def test_a_frame_that_is_no_record_is_one_line(host, tmp_path, capsys, payload, said):
    assert run("--out", "out", "--limit", "1") == 0
    writer = FrameWriter(tmp_path / "out/episodes.jsonl.zst")
    writer.append(payload)
    writer.close()
    capsys.readouterr()
    assert run("--resume", "--out", "out") == 1
    err = capsys.readouterr().err
    assert f"of 'out/episodes.jsonl.zst' cannot be read. {said}" in err
    assert "Traceback" not in err


def test_a_folder_in_the_place_of_the_records_is_one_line(host, tmp_path, capsys):
    assert run("--out", "out", "--limit", "1") == 0
    (tmp_path / "out/episodes.jsonl.zst").unlink()
    (tmp_path / "out/episodes.jsonl.zst").mkdir()
    capsys.readouterr()
    for _ in range(2):
        assert run("--resume", "--out", "out") == 1
        assert capsys.readouterr().err == "error: Cannot write 'out/episodes.jsonl.zst': Is a directory.\n"


@pytest.mark.parametrize(
    "option", ["--episode-timeout=nan", "--episode-timeout=inf", "--temperature=nan", "--temperature=inf"]
)
def test_numbers_must_be_finite(host, capsys, option):
    assert run("--out", "out", option) == 2
    assert "is no finite number." in capsys.readouterr().err


def test_a_policy_file_with_a_syntax_error_is_one_line(host, tmp_path, monkeypatch, capsys):
    (tmp_path / "badpol.py").write_text("def make(:\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert run("--policy", "badpol:make", "--out", "out") == 1
    err = capsys.readouterr().err
    assert "'badpol:make' cannot be imported: SyntaxError: " in err
    assert "(badpol.py, line 1)." in err
    assert "Traceback" not in err
    assert not (tmp_path / "out").exists()


def test_a_refused_key_stops_the_run_keeps_what_had_finished_and_fails(host, tmp_path, capsys):
    good = completion('```\nterminate("x")\n```')
    with ChatServer([good, good, error(401, "expired")]) as server:
        options = ("--model", "m", "--base-url", server.base_url, "--workers", "1")
        assert run("--policy", "openai", "--out", "out", *options) == 1
    said = capsys.readouterr()
    assert "No key (OPENAI_API_KEY is empty) was refused" in said.err
    assert len(rewards(tmp_path / "out")) == 2
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["complete"], summary["planned"]) == (False, 6)


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [
        (signal.SIGINT, 130, "Interrupted"),
        (signal.SIGTERM, 143, "Terminated"),
        (signal.SIGHUP, 129, "Terminated"),
    ],
)
def test_a_signal_stops_cleanly_keeps_what_had_finished_and_says_how_to_go_on(
    host, tmp_path, capsys, number, code, word
):
    steps = 0

    async def before_step():
        nonlocal steps
        steps += 1
        if steps == 8:
            signal.raise_signal(number)

    host.before_step = before_step
    assert run("--out", "out", "--workers", "1") == code
    said = capsys.readouterr()
    assert f"{word}. Go on with: webserv eval --resume --out out" in said.err
    # The handler of a signal runs in the loop's next turns, in which an episode of the fake env can end.
    assert 2 <= len(rewards(tmp_path / "out")) <= 3
    assert host.opened == 0
    host.before_step = None
    assert run("--resume", "--out", "out") == 0
    assert len(rewards(tmp_path / "out")) == 6


def test_a_second_signal_does_not_end_the_clean_up(host, tmp_path, capsys):
    async def before_step():
        for _ in range(3):
            signal.raise_signal(signal.SIGHUP)

    host.before_step = before_step
    assert run("--out", "out", "--workers", "1") == 129
    assert host.opened == 0


def test_who_ignores_hanging_up_is_not_stopped_by_it(host, tmp_path):
    async def before_step():
        signal.raise_signal(signal.SIGHUP)

    host.before_step = before_step
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does
    try:
        assert run("--out", "out", "--limit", "1") == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_options_of_other_policies_are_handed_on(host, tmp_path, monkeypatch):
    (tmp_path / "my_walker.py").write_text(
        "from webserv.testing.fake_env import FakePolicies\n"
        "def make(*, steps, word='x'): return FakePolicies(('next()',) * steps + (f'terminate(\"{word}\")',))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options = ("--policy-option", "steps=2", "--policy-option", "word=there")
    assert run("--policy", "my_walker:make", "--out", "out", "--limit", "1", *options) == 0
    assert rewards(tmp_path / "out") == {"fake/walk-v1:0#0": 1.0}
