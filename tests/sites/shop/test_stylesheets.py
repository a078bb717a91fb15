from pathlib import Path

import pytest

from webserv.sites.shop import stylesheets

ICONS = """
.fa-star {
  --fa: "\\f005";
}

.fa-user, .fa-user-alt {
  --fa: "\\f007";
}
.fa-500px { --fa: "\\f26e"; }
.fa-spin { animation-name: fa-spin; }
a.fa-500px { color: red; }
"""


def test_only_rules_of_unused_icons_go():
    assert stylesheets.slim(ICONS, {"fa-star", "fa-user-alt"}) == (
        '.fa-star { --fa: "\\f005"; } .fa-user, .fa-user-alt { --fa: "\\f007"; } '
        ".fa-spin { animation-name: fa-spin; } a.fa-500px { color: red; }\n"
    )


def test_comments_go_and_licences_stay():
    assert (
        stylesheets.slim("/* note */ a { } /*! MIT */\n\n/*# map */b { }", set())
        == "a { } /*! MIT */ b { }\n"
    )


def test_icons_are_found_in_templates_scripts_and_settings(tmp_path: Path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep/page.html").write_text('<i class="fas fa-check-circle"></i>')
    (tmp_path / "nav.py").write_text('"icon": "fas fa-list"')
    (tmp_path / "sheet.css").write_text(".fa-500px { }")
    assert stylesheets.find_icons([tmp_path]) == {"fa-check-circle", "fa-list"}


@pytest.mark.shop
def test_the_shops_own_sheets_are_a_third_lighter_and_keep_the_stars(shop_snapshot):
    for sheet in ("styles", "dashboard"):
        css = (shop_snapshot.image / f"static/oscar/css/{sheet}.css").read_text()
        assert 150_000 < len(css) < 200_000
        assert ".fa-star {" in css
        assert ".fa-500px" not in css
