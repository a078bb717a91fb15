"""select and upload on real pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from webserv.testing.page_view import OpenPage
from webserv.types import ActionErrorKind

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_options_are_chosen_by_label_value_or_in_any_case(open_page: OpenPage) -> None:
    session = await open_page(
        """<select aria-label=S onchange="document.title = this.value"><option value=a>Price:  high to low
        <option value=b>Newest<option value=c>Title</select>"""
    )
    assert (await session.step('select("s", "Newest")')).title == "b"
    assert (await session.step('select("s", "c")')).title == "c"
    assert (await session.step('select("s", "price: HIGH to low")')).title == "a"


async def test_a_missing_option_is_refused_with_those_there_are(open_page: OpenPage) -> None:
    session = await open_page("<select aria-label=S><option>Red<option>Blue<option disabled>Green</select>")
    observation = await session.step('select("s", "Pink")')
    assert observation.error.kind is ActionErrorKind.NO_OPTION
    assert observation.error.message == "[s] has no option 'Pink'. It has: 'Red', 'Blue', 'Green'."
    assert (await session.step('select("s", "Green")')).error.kind is ActionErrorKind.DISABLED
    assert (await session.step('select("s", "Red", "Blue")')).error.message == "[s] takes one option only."


async def test_a_long_list_is_answered_with_the_nearest(open_page: OpenPage) -> None:
    countries = ["Germany", "Guernsey", "France", *(f"Land {i}" for i in range(40))]
    session = await open_page(
        "<select aria-label=S>" + "".join(f"<option>{c}" for c in countries) + "</select>"
    )
    message = (await session.step('select("s", "Germny")')).error.message
    assert "Nearest of its 43: 'Germany'" in message


async def test_several_are_chosen_where_several_may_be(open_page: OpenPage) -> None:
    session = await open_page("<select multiple aria-label=S><option>A<option selected>B<option>C</select>")
    assert (await session.step('select("s", "A", "C")')).elements[0].value == "A, C"


async def test_a_custom_drop_down_is_refused_with_advice(open_page: OpenPage) -> None:
    session = await open_page("<div role=combobox tabindex=0 aria-label=Pick>v</div>")
    observation = await session.step('select("pick", "x")')
    assert observation.error.kind is ActionErrorKind.NOT_SUPPORTED
    assert "[pick] is a combobox, not a select: click it to open it" in observation.error.message


async def test_files_of_the_upload_folder_and_no_others_are_given(
    open_page: OpenPage, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "photo.png").write_bytes(b"x")
    (tmp_path / "secret.txt").write_text("s")
    (folder / "link").symlink_to(tmp_path / "secret.txt")
    session = await open_page("<input type=file aria-label=F>", upload_dir=folder)
    assert (await session.step('upload("f", "photo.png")')).elements[0].value == "photo.png"
    for path in ("../secret.txt", "link", str(tmp_path / "secret.txt"), "none.png", "a\\u0000b", ""):
        observation = await session.step(f'upload("f", "{path}")')
        assert observation.error is not None
        assert observation.error.kind is ActionErrorKind.NOT_SUPPORTED


async def test_uploads_without_a_folder_are_refused(open_page: OpenPage) -> None:
    session = await open_page("<input type=file aria-label=F>")
    assert "no files to upload" in (await session.step('upload("f", "x")')).error.message
