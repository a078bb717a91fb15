"""The running application: pages, logins, orders, time, and how much it asks of its database."""

import json
import re
import subprocess
from collections import Counter, deque
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest

pytestmark = pytest.mark.shop

HOT_PAGES = {
    "/": 30,
    "/catalogue/": 30,
    "/catalogue/?sort_by=price-asc": 30,
    "/catalogue/category/kitchen-dining_1/": 30,
    "/catalogue/cast-iron-skillet-26-cm_1/": 45,
    "/search/?q=lamp": 30,
    "/offers/": 25,
    "/basket/": 25,
    "/accounts/orders/": 30,
    "/dashboard/": 40,
    "/dashboard/catalogue/": 25,
    "/dashboard/catalogue/products/1/": 45,
    "/dashboard/orders/": 20,
    "/dashboard/users/": 15,
    "/dashboard/reviews/": 15,
    "/dashboard/vouchers/": 15,
}
"""Path to the most SQL statements that it may take. A query per product or row would exceed it."""

COUNT_QUERIES = """
import json, sys
import zygote_adapter as adapter
app = adapter.load()
adapter.warm(app)
adapter.freeze()
adapter.adopt(sys.argv[1])
from django.db import connection
counts = {}
for path in sys.argv[2:]:
    count = 0
    def wrapper(execute, sql, params, many, context):
        global count
        count += 1
        return execute(sql, params, many, context)
    login = "staff" if path.startswith("/dashboard") else "customer"
    with connection.execute_wrapper(wrapper):
        status = adapter._get(app, path, adapter.SESSION_COOKIES[login])
    assert status == "200 OK", (path, status)
    counts[path] = count
print(json.dumps(counts))
"""


def crawl(client, starts, *, limit, per_kind=3):
    """Follows links and sources; returns path to response. Only `per_kind` pages of a kind are looked at.

    Left out are log-out, wish lists and default addresses, which Oscar changes by plain links.
    """
    seen, kinds, answers = set(), Counter(), {}
    queue = deque(starts)
    while queue and len(answers) < limit:
        path = queue.popleft()
        kind = re.sub(r"\d+", "N", re.sub(r"(?<=/catalogue/)[^?]*_\d+/", "X/", path))
        if path in seen or kinds[kind] >= per_kind or re.search(r"logout|default_for|/wishlists/", path):
            continue
        seen.add(path)
        kinds[kind] += 1
        answer = answers[path] = client.get(path, follow_redirects=False)
        if answer.has_redirect_location:
            queue.append(answer.headers["location"])
        if "html" in answer.headers.get("content-type", ""):
            for link in re.findall(
                r"""<(?:a|img|script|link)\b[^>]*?(?:href|src)=["']([^"'#]+)""", answer.text
            ):
                link = unescape(link)
                if not link.startswith(("mailto:", "data:", "javascript:")):
                    queue.append(urljoin(path, link))
    return answers


@pytest.mark.parametrize(
    ("login", "starts", "least"),
    [("", ["/"], 60), ("customer", ["/", "/accounts/orders/"], 100), ("staff", ["/dashboard/"], 150)],
)
def test_every_linked_page_answers_and_leads_nowhere_else(read_shop, login, starts, least):
    before = read_shop.dump()
    with read_shop.open_client(login) as client:
        answers = crawl(client, starts, limit=200)
    assert len(answers) >= least
    outside = [path for path in answers if urlsplit(path).netloc not in ("", "shop.example")]
    assert outside == []
    # The dashboard links to the pages of offers that have ended; those are gone for customers.
    failed = {path: answer.status_code for path, answer in answers.items() if answer.status_code >= 400}
    assert {path: status for path, status in failed.items() if not path.startswith("/offers/")} == {}
    assert read_shop.dump() == before, "a GET changed the database"


def test_style_sheets_and_scripts_stay_on_the_site(read_shop):
    with read_shop.open_client() as client:
        for path in (
            "/static/oscar/css/styles.css",
            "/static/oscar/css/dashboard.css",
            "/static/shop/shop.css",
        ):
            answer = client.get(path).raise_for_status()
            assert re.findall(r"url\(['\"]?(?:https?:)?//[^)]*\)|@import", answer.text) == []
            assert "immutable" in answer.headers["cache-control"]


def test_pictures_are_served_to_everybody_and_kept_by_browsers(read_shop):
    with read_shop.open_client() as client:
        answer = client.get("/media/thumbs/x155/products/kd-0001.png").raise_for_status()
        assert answer.headers["content-type"] == "image/png"
        assert "immutable" in answer.headers["cache-control"]
        assert client.get("/media/../shop.sqlite3").status_code == 404
        assert client.get("/media/%2e%2e/shop.sqlite3").status_code == 404
        assert client.get("/media/nothing.png").status_code == 404


def test_prepared_sessions_are_logged_in(read_shop):
    with read_shop.open_client("customer") as client:
        assert "emma.clark@shop.example" in client.get("/accounts/profile/").text
        assert client.get("/dashboard/").status_code == 403
    with read_shop.open_client("staff") as client:
        assert "Welcome" in client.get("/dashboard/").text
    with read_shop.open_client() as client:
        assert client.get("/accounts/profile/").url.path == "/accounts/login/"


def test_anybody_can_log_in_by_typing(shop):
    with shop.open_client() as client:
        values = {
            "login-username": "liam.turner@shop.example",
            "login-password": "larkspur-demo",
            "login_submit": "Log In",
        }
        shop.submit(client, "/accounts/login/", values)
        assert "liam.turner@shop.example" in client.get("/accounts/profile/").text


def test_an_order_goes_through_and_sets_stock_aside(shop):
    product = "/catalogue/cast-iron-skillet-26-cm_1/"
    (before,) = shop.query("SELECT num_allocated, num_in_stock FROM partner_stockrecord WHERE product_id = 1")
    with shop.open_client("customer") as client:
        shop.submit(client, product, {"quantity": "2"}, action="/basket/add/1/")
        assert "2" in client.get("/basket/").text
        address = shop.query(
            "SELECT id FROM address_useraddress WHERE is_default_for_shipping AND user_id = "
            "(SELECT id FROM auth_user WHERE email = 'emma.clark@shop.example')"
        )[0][0]
        page = "/checkout/shipping-address/"
        answer = client.get(page)
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', answer.text)[1]
        headers = {"referer": f"http://shop.example{page}"}
        chosen = {"action": "ship_to", "address_id": address, "csrfmiddlewaretoken": token}
        answer = client.post(page, data=chosen, headers=headers)
        assert answer.url.path == "/checkout/shipping-method/"
        assert all(
            name in answer.text for name in ("Standard shipping", "Express shipping", "Overnight shipping")
        )
        answer = client.post(
            "/checkout/shipping-method/",
            data={"method_code": "express", "csrfmiddlewaretoken": token},
            headers=headers,
        )
        assert answer.url.path == "/checkout/payment-details/"
        assert "github" not in answer.text
        assert "$79.00" in client.get("/checkout/preview/").text
        placed = {"action": "place_order", "csrfmiddlewaretoken": token}
        answer = client.post("/checkout/preview/", data=placed, headers=headers)
        assert answer.url.path == "/checkout/thank-you/"
    (order,) = shop.query(
        "SELECT number, status, total_incl_tax, shipping_code, date_placed FROM order_order ORDER BY id DESC LIMIT 1"
    )
    assert order[1:4] == ("Pending", pytest.approx(2 * 39.50 + 14.95), "express")
    assert order[4].startswith("2026-03-02 12:00:0")
    (after,) = shop.query("SELECT num_allocated, num_in_stock FROM partner_stockrecord WHERE product_id = 1")
    assert after == (before[0] + 2, before[1])


def test_time_stands_still_while_pages_are_read_and_moves_with_each_change(shop):
    with shop.open_client("customer") as client:
        for _ in range(3):
            client.get("/catalogue/")
        for product in (1, 2):
            shop.submit(client, "/catalogue/", {"quantity": "1"}, action=f"/basket/add/{product}/")
    dates = shop.query("SELECT date_created FROM basket_line ORDER BY id DESC LIMIT 2")
    assert [row[0] for row in dates] == ["2026-03-02 12:00:02", "2026-03-02 12:00:01"]


def test_a_new_price_shows_at_once_on_cards_in_order_and_in_search(shop):
    with shop.open_client("staff") as client:
        assert "Spray Nozzle" not in titles(client.get("/catalogue/?sort_by=price-asc"))[0]
        ((pk,),) = shop.query("SELECT id FROM catalogue_product WHERE title = 'Spray Nozzle 8 Patterns'")
        shop.submit(
            client, f"/dashboard/catalogue/products/{pk}/", {"stockrecords-0-price": "0.75", "action": "save"}
        )
        assert shop.query("SELECT price FROM partner_stockrecord WHERE product_id = ?", pk) == [(0.75,)]
        cheapest = client.get("/catalogue/?sort_by=price-asc")
        assert titles(cheapest)[0] == "Spray Nozzle 8 Patterns"
        assert "$0.75" in cheapest.text
        found = client.get("/search/?q=brass&sort_by=price-asc")
        assert titles(found)[0] == "Spray Nozzle 8 Patterns"


def test_a_renamed_product_is_found_by_its_new_name_only(shop):
    with shop.open_client("staff") as client:
        pk = shop.query("SELECT id FROM catalogue_product WHERE title = 'Milk Pan 14 cm'")[0][0]
        page = f"/dashboard/catalogue/products/{pk}/"
        shop.submit(client, page, {"title": "Quokka Kettle", "action": "save"})
        assert titles(client.get("/search/?q=quokka")) == ["Quokka Kettle"]
        assert "Milk Pan 14 cm" not in titles(client.get("/search/?q=milk+pan"))


def test_a_renamed_category_shows_at_once_in_menus(shop):
    with shop.open_client("staff") as client:
        assert "Cookware" in client.get("/").text or "Kitchen" in client.get("/").text
        page = "/dashboard/catalogue/categories/1/update/"
        client.get(page).raise_for_status()
        shop.submit(client, page, {"name": "Galley"})
        assert shop.query("SELECT name FROM catalogue_category WHERE id = 1") == [("Galley",)]
        for path in ("/", "/catalogue/", "/catalogue/category/kitchen-dining_1/"):
            assert "Galley" in client.get(path).text


def test_a_review_waits_for_the_moderator(shop):
    product = "/catalogue/enamelled-dutch-oven-5-l_2/"
    with shop.open_client("customer") as client:
        values = {"title": "A pot for life", "score": "5", "body": "Heavy, and worth it."}
        shop.submit(client, f"{product}reviews/add/", values)
        assert "A pot for life" not in client.get(product).text
    assert shop.query("SELECT status FROM reviews_productreview WHERE title = 'A pot for life'") == [(0,)]
    with shop.open_client("staff") as client:
        pk = shop.query("SELECT id FROM reviews_productreview WHERE title = 'A pot for life'")[0][0]
        page = f"/dashboard/reviews/{pk}/"
        shop.submit(client, page, {"status": "1"})
        assert "A pot for life" in client.get(product).text


def test_an_uploaded_picture_gets_its_thumbnail_and_shows(shop):
    # A red GIF of 2 x 2 pixels.
    picture = bytes.fromhex(
        "47494638376102000200810000ff00000000000000000000002c0000000002000200000806000108041010003b"
    )
    ((pk,),) = shop.query("SELECT id FROM catalogue_product WHERE title = 'Garden Fork'")
    with shop.open_client("staff") as client:
        page = f"/dashboard/catalogue/products/{pk}/"
        files = {"images-1-original": ("fork.gif", picture, "image/gif")}
        shop.submit(client, page, {"images-1-display_order": "1", "action": "save"}, files=files)
        names = shop.query("SELECT original FROM catalogue_productimage WHERE product_id = ? ORDER BY id", pk)
        assert names == [("products/gd-0237.png",), ("products/fork.gif",)]
        client.get("/dashboard/catalogue/?title=Garden+Fork").raise_for_status()
        shown = client.get(f"/catalogue/garden-fork_{pk}/").text
        assert "/media/products/fork.gif" in shown
        assert client.get("/media/products/fork.gif").content == picture
    assert (shop.data / "media/thumbs/65x55/products/fork.gif").exists()


def test_errors_have_pages_that_lead_back(read_shop):
    with read_shop.open_client("customer") as client:
        for path, status, text in (
            ("/nothing-here/", 404, "Page not found!"),
            ("/dashboard/", 403, "Permission denied!"),
        ):
            answer = client.get(path)
            assert answer.status_code == status
            assert text in answer.text
            assert "Account" in answer.text


def test_words_are_found_and_narrowed_by_type(read_shop):
    with read_shop.open_client() as client:
        assert "Cast Iron Skillet 26 cm" in titles(client.get("/search/?q=skillet"))
        lamps = client.get("/search/?q=lamp")
        assert len(titles(lamps)) >= 5
        books = client.get("/catalogue/?selected_facets=product_class:Book")
        assert re.search(r"<strong>36</strong>\s+results", books.text)
        assert client.get("/search/?q=zzzz").text.count("product_pod") == 0


@pytest.mark.parametrize(("sort_by", "reverse"), [("price-asc", False), ("price-desc", True)])
def test_categories_sort_by_price(read_shop, sort_by, reverse):
    with read_shop.open_client() as client:
        text = client.get(f"/catalogue/category/kitchen-dining_1/?sort_by={sort_by}").text
    prices = [float(price) for price in re.findall(r'class="price_color">\$([\d.]+)<', text)]
    assert len(prices) == 20
    assert prices == sorted(prices, reverse=reverse)


def test_hot_pages_take_a_bounded_number_of_statements(shop_snapshot, shop_data, tmp_path):
    image = shop_snapshot.image
    result = subprocess.run(
        [image / "venv/bin/python", "-B", "-c", COUNT_QUERIES, shop_data, *HOT_PAGES],
        env={"PYTHONPATH": str(image / "app"), "SITE_DATA": str(shop_data)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    counts = json.loads(result.stdout)
    assert {path: number for path, number in counts.items() if number > HOT_PAGES[path]} == {}


def titles(answer):
    """Titles of the product cards, in order."""
    return [unescape(title) for title in re.findall(r'<h3 class="mt-3"><a [^>]*>([^<]+)</a>', answer.text)]
