"""Elements: what can be acted on, how it is named, its states and values."""

from __future__ import annotations

import pytest

from webserv.testing.page_view import OpenPage, See

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_names_follow_the_accessible_name_computation(see: See) -> None:
    html = """<span id=l>Labelled</span><button aria-labelledby=l>&times;</button><br>
        <button aria-label=Close>&times;</button><br>
        <label for=i>Email:</label><input id=i><br><input placeholder=Phone><br><input title=Tip><br>
        <a href=/p><img alt=Profile src=x></a><br><input type=submit><input type=button value=Go><br>
        <button><svg><title>Menu</title></svg></button><button><i class="fa fa-trash"></i></button>"""
    assert await see(html) == (
        'Labelled [labelled] button "Labelled"\n[close] button "Close"\n[email] textbox "Email:" = ""\n'
        '[phone] textbox "Phone" = ""\n[tip] textbox "Tip" = ""\n[profile] link "Profile"\n'
        '[submit] button "Submit" [go] button "Go"\n[menu] button "Menu" [trash] button "trash"'
    )


async def test_live_values_are_shown_not_the_attributes(open_page: OpenPage, see: See) -> None:
    html = """<input id=a value=old><textarea id=b>old</textarea><select id=s><option>A<option>B</select>
        <input type=checkbox id=c checked aria-label=C><input type=password id=p aria-label=P>
        <div contenteditable aria-label=E>x</div>
        <script>a.value = 'new "q"'; b.value = 'l1\\nl2'; s.value = 'B'; c.checked = false; p.value = 'abc';</script>"""
    assert await see(html) == (
        r'[a] textbox = "new \"q\"" [b] textbox = "l1\nl2" [s] combobox = "B" options: "A" | "B" '
        '[c] checkbox "C" [p] password "P" = "•••"\n[e] textbox "E" = "x"'
    ).replace("[s] combobox", "[s] select")


async def test_states_are_shown_in_a_fixed_order(see: See) -> None:
    html = """<button disabled>A</button><input readonly required aria-label=B value=1>
        <input type=checkbox checked aria-label=C>
        <input type=radio aria-label=D><button aria-expanded=true>E</button><button aria-pressed=true>F</button>
        <fieldset disabled><button>G</button></fieldset><div role=tab aria-selected=true tabindex=0>H</div>
        <a href=/x aria-current=page>I</a><input aria-label=J autofocus>"""
    assert await see(html) == (
        '[a] button "A" disabled [b] textbox "B" = "1" readonly required [c] checkbox "C" checked [d] radio "D" '
        '[e] button "E" expanded [f] button "F" pressed\n[g] button "G" disabled\n[h] tab "H" selected\n'
        '[i] link "I" current [j] textbox "J" = "" focused'
    )


async def test_native_toggles_hidden_behind_their_label_are_seen(see: See) -> None:
    html = """<label><input type=checkbox style=opacity:0>Remember</label>
        <input type=radio id=r style=display:none><label for=r>Express</label>
        <input type=file id=f style="position:absolute;left:-9999px"><label for=f>Photo</label>"""
    assert await see(html) == '[remember] checkbox "Remember" [express] radio "Express" [photo] file "Photo"'


async def test_a_label_is_not_said_twice_but_its_links_stay(see: See) -> None:
    html = "<label><input type=checkbox>I accept the <a href=/t>terms</a></label>"
    assert await see(html) == '[i_accept_the_terms] checkbox "I accept the terms" [terms] link "terms"'


async def test_a_widget_in_the_place_of_a_hidden_select_has_its_label(see: See) -> None:
    html = """<label for=s>Usage</label>
        <select id=s style="position:absolute;clip:rect(0 0 0 0);width:1px;height:1px"><option>Once</select>
        <span><span role=combobox tabindex=0 aria-labelledby=v><span id=v>Once per customer</span></span></span>"""
    assert await see(html) == '[usage] combobox "Usage" = "Once per customer"'


async def test_the_label_of_a_control_that_cannot_be_seen_is_text(see: See) -> None:
    html = "<label for=i>Plain</label><input id=i style='position:absolute;left:-9999px'>"
    assert await see(html) == "Plain"


async def test_selects_list_options_once_and_show_the_choice(open_page: OpenPage, see: See) -> None:
    html = """<label>Size <select multiple size=3><option selected>S<option>M<option selected>L</select></label>
        <label>Fruit <select><optgroup label=Red><option>Cherry</optgroup><option value=p>Pear</select></label>"""
    assert await see(html) == (
        '[size] select "Size" = "S, L" options, several can be selected: "S" | "M" | "L" '
        '[fruit] select "Fruit" = "Cherry" options: "Cherry" | "Pear"'
    )


async def test_a_long_select_is_shortened_in_the_text_only(open_page: OpenPage) -> None:
    session = await open_page(
        "<select aria-label=N>" + "".join(f"<option>{i}" for i in range(40)) + "</select>"
    )
    observation = await session.observe()
    assert '"11" … 28 more' in observation.text
    assert len(observation.elements[0].options) == 40


async def test_script_controls_are_found_by_role_tabindex_onclick_and_pointer(see: See) -> None:
    html = """<div role=button>R</div><div tabindex=0>T</div><div onclick="1">O</div>
        <div style=cursor:pointer>P <span>inner</span></div><div tabindex=-1>N</div>"""
    assert await see(html) == (
        '[r] button "R"\n[t] clickable "T"\n[o] clickable "O"\n[p_inner] clickable "P inner"\nN'
    )


async def test_a_clickable_card_keeps_its_text_and_its_own_controls(see: See) -> None:
    html = """<div style=cursor:pointer><h3>Mug</h3><p>Blue</p><button>Buy</button></div>"""
    assert await see(html) == '[mug_blue_buy] clickable "Mug Blue Buy":\n ### Mug\n Blue\n [buy] button "Buy"'


async def test_text_that_a_label_does_not_say_is_not_lost(see: See) -> None:
    assert (
        await see("<a href=/m aria-label='View product'>Mug $5</a>")
        == '[view_product] link "View product": Mug $5'
    )


async def test_a_picture_link_beside_the_same_text_link_is_left_out(open_page: OpenPage) -> None:
    session = await open_page(
        "<a href=/m><img alt=Mug src=x width=9 height=9></a><a href=/m>Mug</a><a href=/n><img alt=Cup src=x></a>"
    )
    assert [element.id for element in (await session.observe()).elements] == ["mug", "cup"]


async def test_controls_inside_empty_wrappers_are_kept(see: See) -> None:
    assert await see("<div><span><input aria-label=Q></span></div>") == '[q] textbox "Q" = ""'


async def test_page_noise_is_left_out(see: See) -> None:
    html = "<div data-bind='x' data-mage-init='{}' class=a style=color:red data-post='{}'>Text</div>"
    assert await see(html) == "Text"


async def test_every_kind_of_input_has_its_role(see: See) -> None:
    kinds = [
        "text",
        "search",
        "email",
        "number",
        "range",
        "date",
        "time",
        "color",
        "file",
        "hidden",
        "url",
        "tel",
    ]
    html = "".join(f"<input type={kind} aria-label={kind}>" for kind in kinds)
    assert await see(html) == (
        '[text] textbox "text" = "" [search] searchbox "search" = "" [email] textbox "email" = "" '
        '[number] spinbutton "number" = "" [range] slider "range" = "50" [date] date "date" = "" '
        '[time] time "time" = "" [color] color "color" = "#000000" [file] file "file" '
        '[url] textbox "url" = "" [tel] textbox "tel" = ""'
    )
