"""The run folder: what is written is read again, whatever the text and whenever the process was killed."""

import dataclasses
import errno
import json
import os
import subprocess
import sys

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from webserv.errors import HostRefused, UserError
from webserv.rollout.digest import digest_of
from webserv.rollout.episode import Assignment, run_episode
from webserv.rollout.frames import Damage, FrameWriter, read_frames
from webserv.rollout.record import EpisodeRecord
from webserv.rollout.store import RunStore, continued, iterate_records, read_digests, read_record
from webserv.rollout.summary import summarise
from webserv.testing.fake_env import FakeHost, FakePolicies, fake_task
from webserv.types import ActionError, ActionErrorKind, Failure, FailureKind
from webserv.viewer.pages import episode_page

CONFIG = {"benchmark": "fake", "policy": "fake", "seed": 0}


async def make_record(number=0, **changes):
    assignment = Assignment(fake_task(number))
    record = await run_episode(FakeHost().make_env(), FakePolicies(), assignment)
    return dataclasses.replace(record, **changes)


@pytest.fixture
async def record():
    return await make_record()


any_text = st.text(st.characters(exclude_categories=()))  # lone surrogates too: pages can hold them


@given(text=any_text, answer=st.none() | any_text, tag=any_text)
@settings(deadline=None, max_examples=60)
async def test_any_text_survives_the_round_trip(text, answer, tag):
    record = await make_record()
    observation = dataclasses.replace(
        record.first, text=text, title=text, error=ActionError(ActionErrorKind.STALE, text)
    )
    step = dataclasses.replace(record.steps[0], observation=observation, action=text, completion=text)
    full = dataclasses.replace(record, first=observation, steps=(step,), answer=answer, tags=(tag,))
    line = full.to_json()
    assert "\n" not in line
    assert line.isascii()
    assert EpisodeRecord.from_json(line) == full


async def test_a_failed_record_with_attempts_survives_the_round_trip():
    host = FakeHost(faults=["step"])
    spoiled = await run_episode(host.make_env(), FakePolicies(), Assignment(fake_task()))
    full = continued(spoiled, digest_of(spoiled))
    assert EpisodeRecord.from_json(full.to_json()) == full
    assert full.attempts[0].failure == Failure(FailureKind.ENV, "The fake world died.")


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b"null", b'{"schema": 1}', b'{"schema": 99}', b"\xff"])
def test_what_is_no_record_is_refused(line):
    with pytest.raises(ValueError, match="record"):
        EpisodeRecord.from_json(line)


@given(st.data())
@settings(deadline=None, max_examples=150)
async def test_a_record_with_a_value_of_another_type_is_read_or_refused_and_nothing_else(data):
    raw = json.loads((await make_record()).to_json())
    place = raw
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(
        st.sampled_from([None, 5, -1.5, float("nan"), "x", True, [], [["a"]], {}, {"a": 1}])
    )
    try:
        record = EpisodeRecord.from_json(json.dumps(raw))
    except ValueError:
        return
    summarise([digest_of(record)]).to_json()
    episode_page(record, blobs="")


async def test_the_file_is_plain_zstd_of_json_lines(tmp_path, record):
    with RunStore.create(tmp_path / "run", CONFIG) as store:
        store.add(record)
        store.add(await make_record(1))
    with (tmp_path / "run" / "episodes.jsonl.zst").open("rb") as file:
        text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read().decode()
    assert [json.loads(line)["key"] for line in text.splitlines()] == ["fake/walk-v1:0#0", "fake/walk-v1:1#0"]


async def test_a_file_cut_at_any_byte_loses_only_the_record_that_was_cut(tmp_path):
    root = tmp_path / "run"
    with RunStore.create(root, CONFIG) as store:
        ends = []
        for number in range(3):
            store.add(await make_record(number))
            ends.append((root / "episodes.jsonl.zst").stat().st_size)
    whole = (root / "episodes.jsonl.zst").read_bytes()
    again = await make_record(9)
    for cut in range(len(whole) + 1):
        (root / "episodes.jsonl.zst").write_bytes(whole[:cut])
        kept = sum(end <= cut for end in ends)
        assert len(read_digests(root)) == kept
        if cut % 97 == 0 or cut in ends:
            with RunStore.resume(root, CONFIG) as store:
                store.add(again)
            assert [one.task_id for one in read_digests(root).values()] == [
                *(f"fake/walk-v1:{n}" for n in range(kept)),
                "fake/walk-v1:9",
            ]
            assert not any(isinstance(frame, Damage) for frame in read_frames(root / "episodes.jsonl.zst"))


@given(payloads=st.lists(st.binary(max_size=300), min_size=1, max_size=5), data=st.data())
@settings(deadline=None, max_examples=60)
def test_a_flipped_byte_spoils_its_own_frame_only(tmp_path_factory, payloads, data):
    path = tmp_path_factory.mktemp("frames") / "file.zst"
    writer = FrameWriter(path)
    for payload in payloads:
        writer.append(payload)
    writer.close()
    whole = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    frames = [frame for frame in read_frames(path) if not isinstance(frame, Damage)]
    spoiled = next(index for index, frame in enumerate(frames) if frame.end > place)
    path.write_bytes(whole)
    left = [frame.payload for frame in read_frames(path) if not isinstance(frame, Damage)]
    expected = [payload for index, payload in enumerate(payloads) if index != spoiled]
    # A flip in the frame's header may go unnoticed by the format; then the payload is the same.
    assert left in (expected, payloads)


def test_a_magic_number_across_two_read_windows_is_found(tmp_path):
    path = tmp_path / "file.zst"
    writer = FrameWriter(path)
    writer.append(b"second")
    writer.close()
    frame = path.read_bytes()
    for shift in range(6):
        path.write_bytes(b"\0" * ((1 << 18) - shift) + frame)
        assert [one.payload for one in read_frames(path) if not isinstance(one, Damage)] == [b"second"]


async def test_one_record_is_read_by_its_place(tmp_path, record):
    with RunStore.create(tmp_path / "run", CONFIG) as store:
        store.add(record)
        store.add(await make_record(1))
    second = read_digests(tmp_path / "run")["fake/walk-v1:1#0"]
    assert read_record(tmp_path / "run", second.offset).task_id == "fake/walk-v1:1"
    with pytest.raises(ValueError, match="No record begins at byte 1 "):
        read_record(tmp_path / "run", 1)


async def test_the_latest_record_of_an_episode_counts(tmp_path, record):
    with RunStore.create(tmp_path / "run", CONFIG) as store:
        store.add(dataclasses.replace(record, reward=None))
        store.add(await make_record(1))
        store.add(record)
        assert [one.reward for one in store.digests().values()] == [1.0, 1.0]
        assert [one.task_id for one in store.digests().values()] == ["fake/walk-v1:0", "fake/walk-v1:1"]
    assert [one.reward for one in iterate_records(tmp_path / "run")] == [1.0, 1.0]
    assert len(list(read_frames(tmp_path / "run" / "episodes.jsonl.zst"))) == 3


def test_a_folder_that_holds_something_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match=r"not empty \(it holds 'letter.txt'\).*another --out"):
        RunStore.create(tmp_path, CONFIG)


def test_a_folder_that_holds_a_run_is_refused_with_the_way_on(tmp_path):
    RunStore.create(tmp_path, CONFIG).close()
    with pytest.raises(UserError, match=r"already holds a run.*--resume"):
        RunStore.create(tmp_path, CONFIG)


def test_resuming_with_another_config_names_what_differs(tmp_path):
    RunStore.create(tmp_path, CONFIG).close()
    with pytest.raises(UserError, match=r"made with seed = 0, not 1\. Resume it with the same options"):
        RunStore.resume(tmp_path, {**CONFIG, "seed": 1})
    with pytest.raises(UserError, match='made with model = null, not "m"'):
        RunStore.resume(tmp_path, {**CONFIG, "model": "m"})


def test_resuming_what_is_no_run_says_so(tmp_path):
    with pytest.raises(UserError, match="There is no run in"):
        RunStore.resume(tmp_path / "absent", CONFIG)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        RunStore.resume(tmp_path, CONFIG)
    (tmp_path / "run.json").write_text('{"schema": 99, "config": {}}')
    with pytest.raises(UserError, match="has schema 99"):
        RunStore.resume(tmp_path, CONFIG)


def test_two_processes_cannot_write_to_one_folder(tmp_path):
    script = """
import json, sys
from pathlib import Path
from webserv.rollout.store import RunStore
store = RunStore.create(Path(sys.argv[1]), json.loads(sys.argv[2]))
print("mine", flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "run"), json.dumps(CONFIG)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "mine\n"
        with pytest.raises(HostRefused, match="Another process is writing to"):
            RunStore.resume(tmp_path / "run", CONFIG)
        holder.kill()
        holder.wait()
        RunStore.resume(tmp_path / "run", CONFIG).close()


async def test_a_full_disk_is_one_line_and_leaves_what_was_stored(tmp_path, record, monkeypatch):
    store = RunStore.create(tmp_path / "run", CONFIG)
    store.add(record)
    real = os.pwrite

    def half_then_full(fd, content, offset):
        if len(content) > 100:
            return real(fd, content[:100], offset)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", lambda fd, content, offset: half_then_full(fd, content[:150], offset))
    with pytest.raises(HostRefused, match=r"is full.*--resume"):
        store.add(await make_record(1))
    monkeypatch.undo()
    assert len(store.digests()) == 1
    store.add(await make_record(2))
    assert [one.task_id[-1] for one in store.digests().values()] == ["0", "2"]
    store.close()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostRefused, match="Cannot write"):
        RunStore.create(tmp_path / "file" / "run", CONFIG)


def test_run_json_tells_config_versions_and_host(tmp_path):
    RunStore.create(tmp_path, CONFIG).close()
    about = json.loads((tmp_path / "run.json").read_text())
    assert about["config"] == CONFIG
    assert about["host"]["cpus"] == os.cpu_count()
    assert set(about["versions"]) == {"webserv", "playwright"}


def test_closing_twice_is_harmless(tmp_path):
    store = RunStore.create(tmp_path, CONFIG)
    store.close()
    store.close()
