from webserv.tasks.evaluators.page import PageText


async def test_the_final_page_must_show_and_not_show(end_state):
    state = end_state(text="Your basket\n  Oak   Table  2")
    assert (await PageText(("oak table 2",), ("Lamp",)).evaluate(state)).value == 1.0
    score = await PageText(("Desk", "oak table"), ("basket",)).evaluate(state)
    assert score.value == 0.0
    assert score.evidence == (
        "FAILED: http://shop.example/ does not show 'Desk'",
        "FAILED: http://shop.example/ shows 'basket'",
    )


async def test_another_page_is_visited(end_state):
    state = end_state(text="Nothing", pages={"http://shop.example/a/": "Thank you"})
    assert (await PageText(("thank you",), url="http://shop.example/a/").evaluate(state)).value == 1.0
