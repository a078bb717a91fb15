import re
import sys
from pathlib import Path

import pytest

from webserv.errors import HostRefused, InvalidSite
from webserv.server.site import load_site
from webserv.server.snapshot import Snapshot
from webserv.sites.shop import build


def test_every_requirement_is_pinned_with_hashes_and_names_no_index() -> None:
    text = build.LOCK.read_text()
    pins = re.findall(r"^[a-z0-9-]+(?:\[.*\])?==\S+", text, re.M)
    assert len(pins) > 15
    for entry in re.split(r"^(?=[a-z0-9-]+==)", text, flags=re.M)[1:]:
        assert "--hash=sha256:" in entry
    assert "http://" not in text
    assert "https://" not in text
    assert "django-oscar==4.2.1" in pins


def test_inputs_exist_and_cover_app_and_seed() -> None:
    image, snapshot = build.image_inputs(), build.snapshot_inputs()
    assert all(path.is_file() for path in (*image, *snapshot))
    assert build.APP / "zygote_adapter.py" in image
    assert build.SEED / "catalogue.txt" in snapshot
    assert not [path for path in (*image, *snapshot) if "__pycache__" in path.parts]


def test_the_site_file_names_both_start_modes_and_both_logins() -> None:
    site = load_site("shop")
    assert site.start_modes == ("zygote", "boot")
    assert site.logins == ("staff", "customer")
    assert site.origins == ("http://shop.example",)


def test_a_failing_command_ends_in_one_line_with_its_last_words() -> None:
    command = [sys.executable, "-c", "print('going on'); raise SystemExit('no space left')"]
    with pytest.raises(HostRefused, match=r"failed at '.*': no space left\.$") as caught:
        build._run(command)
    assert "\n" not in str(caught.value)


def test_progress_lines_of_a_child_are_passed_on() -> None:
    told: list[str] = []
    last = build._run([sys.executable, "-c", "print('> one'); print('facts')"], progress=told.append)
    assert (told, last) == (["one"], "facts")


def test_a_seed_without_facts_is_an_invalid_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_run", lambda *args, **kwargs: "Warning: odd")
    with pytest.raises(InvalidSite, match="Warning: odd"):
        build.build_snapshot(tmp_path, tmp_path / "data", lambda line: None)


@pytest.mark.shop
def test_the_image_holds_python_app_and_static_files_and_no_installer(shop_snapshot: Snapshot) -> None:
    image = shop_snapshot.image
    assert (image / "venv/bin/python").exists()
    assert (image / "app/zygote_adapter.py").exists()
    assert (image / "static/oscar/css/styles.css").exists()
    assert not list((image / "venv/lib").glob("python*/site-packages/pip"))
    assert list((image / "app").rglob("*.pyc"))


@pytest.mark.shop
def test_the_snapshot_knows_its_logins_and_counts(shop_snapshot: Snapshot) -> None:
    assert set(shop_snapshot.logins) == {"staff", "customer"}
    for cookies in shop_snapshot.logins.values():
        assert [(cookie.name, cookie.domain, cookie.path) for cookie in cookies] == [
            ("sessionid", "shop.example", "/")
        ]
    assert shop_snapshot.metadata["counts"]["products"] >= 300
