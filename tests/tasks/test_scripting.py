import pytest

from webserv.tasks import scripting
from webserv.tasks.scripting import ScriptStuck
from webserv.types import ActionError, ActionErrorKind, Element, Observation, Settle

ELEMENTS = (
    Element("home", "link", "Home", href="http://shop.example/"),
    Element("save", "button", " Save  changes "),
    Element("price", "textbox", "Price*", value="10"),
    Element("note", "textbox", "Note", value=""),
    Element("status", "combobox", "Status", options=("Open", "Closed")),
    Element("lamp-2", "link", "Lamp", href="http://shop.example/lamp_2/"),
    Element("lamp-3", "link", "Lamp", href="http://shop.example/lamp_3/"),
)


def make(elements=ELEMENTS, *, error=None, text="Total: $12.50\nItems: 3"):
    return Observation(
        text, "http://shop.example/", "Shop", elements, (), None, error, Settle(True, "quiet", 0.0)
    )


def run(script, *observations):
    """The actions of a script that is sent `observations`, and what it returns."""
    actions = [next(script)]
    for obs in observations[:-1]:
        actions.append(script.send(obs))
    with pytest.raises(StopIteration) as stop:
        script.send(observations[-1])
    return actions, stop.value.value


def test_elements_are_found_by_role_name_part_target_and_number():
    obs = make()
    assert scripting.find(obs, "button", "save changes").id == "save"
    assert scripting.find(obs, "link", "lamp", nth=-1).id == "lamp-3"
    assert scripting.find(obs, "link", href="_2/").id == "lamp-2"
    assert scripting.find(obs, name="pri", exact=False).id == "price"
    assert not scripting.has(obs, "button", "Delete")
    with pytest.raises(ScriptStuck, match=r"No button 'Delete' \(number 0\)"):
        scripting.find(obs, "button", "Delete")


def test_a_click_yields_the_id_and_returns_what_came_of_it():
    after = make(text="after")
    assert run(scripting.click(make(), "link", "Lamp", nth=1), after) == (['click("lamp-3")'], after)


def test_a_field_that_holds_something_is_cleared_first():
    after = make()
    assert run(scripting.fill(make(), "Price*", 'a "b"\n'), make(), after)[0] == [
        'clear("price")',
        'type("price", "a \\"b\\"\\n")',
    ]
    assert run(scripting.fill(make(), "Note", "x", enter=True), after)[0] == ['type("note", "x", enter=true)']


def test_options_are_chosen_by_label():
    assert run(scripting.choose(make(), "Status", "Closed"), make())[0] == ['select("status", "Closed")']


def test_a_refused_action_stops_the_script():
    script = scripting.click(make(), "link", "Home")
    next(script)
    with pytest.raises(ScriptStuck, match="covered: Covered by a dialog"):
        script.send(make(error=ActionError(ActionErrorKind.COVERED, "Covered by a dialog")))


def test_the_text_is_read_by_pattern():
    assert scripting.first_match(make(), r"Total: \$([\d.]+)") == "12.50"
    assert scripting.lines_with(make(), "Items") == ["Items: 3"]
    with pytest.raises(ScriptStuck):
        scripting.first_match(make(), "Tax: (.*)")


def test_finishing_quotes_the_answer():
    assert list(scripting.finish('6" pipe')) == ['terminate("6\\" pipe")']
    assert list(scripting.finish()) == ["terminate()"]
