"""upload: gives files of the session's own folder to a page, and no others."""

from __future__ import annotations

from pathlib import Path

from webserv.browser.actions.execute import Hands, ask, find_target
from webserv.browser.actions.outcome import ActionRefused
from webserv.browser.actions.types import Upload
from webserv.types import ActionErrorKind


async def upload(hands: Hands, action: Upload) -> None:
    """Puts one file into a file field."""
    target = find_target(hands, action.target)
    await ask(hands, target, "fileField")
    path = allowed_file(hands.options.upload_dir, action.path)
    channel = hands.active.channel
    handle = await channel.object_id(target.number, target.world)
    await channel.send("DOM.setFileInputFiles", {"files": [str(path)], "objectId": handle})


def allowed_file(folder: Path | None, name: str) -> Path:
    """The file of that name in the folder, links resolved.

    Raises:
        ActionRefused: There is no folder, no such file, or it lies outside of the folder.
    """
    if folder is None:
        raise ActionRefused(ActionErrorKind.NOT_SUPPORTED, "There are no files to upload in this task.")
    root = folder.resolve()
    try:
        path = (root / name).resolve()
        usable = path.is_relative_to(root) and path.is_file()
    except (OSError, ValueError):
        usable = False
    if not usable:
        files = sorted(str(item.relative_to(root)) for item in root.rglob("*") if item.is_file())[:20]
        raise ActionRefused(
            ActionErrorKind.NOT_SUPPORTED,
            f"There is no file '{name[:60]}'. Files: {', '.join(files) or 'none'}.",
        )
    return path
