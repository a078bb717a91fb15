"""`write_report`: the static pages of a run, for people.

``report/index.html`` sums the run up and lists its episodes; ``report/episodes/`` has a page for each. They need no
server and nothing from the network, and refer to the screenshots in the run's ``blobs/`` by relative path: the run's
folder as a whole can be moved, zipped and opened elsewhere.

Everything in a record may come from a hostile page or model. The templates escape it all, nothing of it becomes a
link, and a Content-Security-Policy forbids what is not ours.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from webserv.rollout.digest import EpisodeDigest
from webserv.rollout.frames import refused
from webserv.rollout.store import read_digests, read_record
from webserv.rollout.summary import NOT_COUNTED, Summary, summarise
from webserv.viewer import figures
from webserv.viewer.pages import EpisodeLink, episode_page, links

_ASSETS = Path(__file__).with_name("static")


def write_report(root: Path, summary: Summary | None = None) -> Path:
    """Writes the pages of the run in `root` and returns the path of the first; an earlier report is replaced.

    Args:
        root: The run's folder.
        summary: Figures of the run; None works them out.

    Raises:
        HostRefused: The disk is full or the folder cannot be written.
    """
    digests = sorted(read_digests(root).values(), key=lambda digest: (digest.task_id, digest.repeat))
    if summary is None:
        summary = summarise(digests)
    target, making = root / "report", root / ".report.new"
    try:
        shutil.rmtree(making, ignore_errors=True)
        (making / "episodes").mkdir(parents=True)
        (making / "assets").mkdir()
        for asset in _ASSETS.iterdir():
            shutil.copyfile(asset, making / "assets" / asset.name)
        _write_pages(root, making, digests, summary)
        shutil.rmtree(target, ignore_errors=True)
        making.replace(target)
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        raise refused(error, target) from error
    return target / "index.html"


def _write_pages(root: Path, making: Path, digests: list[EpisodeDigest], summary: Summary) -> None:
    environment = _environment()
    rows = links(digests)
    about = _about(root)
    index = environment.get_template("index.html.jinja")
    _write(
        making / "index.html",
        index.render(about=about, summary=summary, episodes=rows, not_counted=NOT_COUNTED, assets="assets"),
    )
    template = environment.get_template("episode.html.jinja")
    for before, row, after in _neighbours(rows):
        page = episode_page(read_record(root, row.digest.offset), blobs="../../blobs")
        _write(
            making / "episodes" / row.file,
            template.render(about=about, row=row, page=page, before=before, after=after, assets="../assets"),
        )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("webserv.viewer"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "percent": figures.percent,
        "seconds": figures.seconds,
        "count": figures.count,
        "reward": figures.reward,
    }
    environment.globals |= {
        "parts": figures.parts,
        "interval": figures.interval,
        "ending": figures.ending,
        "endings": lambda counts: {figures.ending(name): number for name, number in counts.items()},
    }
    return environment


def _about(root: Path) -> dict[str, Any]:
    """The run's config, versions and host; empty entries when ``run.json`` is not there."""
    try:
        raw: dict[str, Any] = json.loads((root / "run.json").read_text())
    except (OSError, ValueError):
        raw = {}
    return {"name": root.resolve().name, "config": {}, "created_at": "", "versions": {}, "host": {}} | raw


def _neighbours(
    rows: list[EpisodeLink],
) -> Iterable[tuple[EpisodeLink | None, EpisodeLink, EpisodeLink | None]]:
    return zip([None, *rows], rows, [*rows[1:], None], strict=False)


def _write(path: Path, text: str) -> None:
    # Lone surrogates of a page's text are no UTF-8.
    path.write_bytes(text.encode("utf-8", "replace"))
