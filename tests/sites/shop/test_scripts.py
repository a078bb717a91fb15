"""Pages in a real browser: no script fails, nothing is asked of another host, widgets work without a network."""

import pytest
from playwright.async_api import async_playwright

from webserv.browser.executable import find_executable

pytestmark = [pytest.mark.shop, pytest.mark.browser]

STOREFRONT = (
    "/",
    "/catalogue/",
    "/catalogue/cast-iron-skillet-26-cm_1/",
    "/catalogue/cast-iron-skillet-26-cm_1/reviews/add/",
    "/search/?q=lamp",
    "/basket/",
    "/accounts/profile/edit/",
    "/accounts/orders/",
    "/accounts/addresses/add/",
)
DASHBOARD = (
    "/dashboard/",
    "/dashboard/catalogue/",
    "/dashboard/catalogue/products/1/",
    "/dashboard/catalogue/categories/1/update/",
    "/dashboard/ranges/6/products/",
    "/dashboard/catalogue/stock-alerts/",
    "/dashboard/orders/",
    "/dashboard/orders/100276/",
    "/dashboard/orders/statistics/",
    "/dashboard/users/",
    "/dashboard/offers/1/",
    "/dashboard/vouchers/create/",
    "/dashboard/pages/update/1/",
    "/dashboard/comms/ORDER_PLACED/",
    "/dashboard/reports/",
)


@pytest.fixture
async def open_page(read_shop):
    """Opens a page of a browser for which ``http://shop.example`` is this shop."""
    async with async_playwright() as playwright:
        rule = f"--host-resolver-rules=MAP shop.example 127.0.0.1:{read_shop.port}, MAP * ~NOTFOUND"
        browser = await playwright.chromium.launch(
            executable_path=find_executable(), args=["--no-sandbox", rule]
        )

        async def open_page(login):
            context = await browser.new_context()
            (cookie,) = read_shop.snapshot.logins[login]
            await context.add_cookies(
                [{"name": cookie.name, "value": cookie.value, "domain": cookie.domain, "path": cookie.path}]
            )
            return await context.new_page()

        yield open_page
        await browser.close()


@pytest.mark.parametrize(("login", "paths"), [("customer", STOREFRONT), ("staff", DASHBOARD)])
async def test_pages_run_without_errors_and_ask_nobody_else(open_page, login, paths):
    page = await open_page(login)
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(f"{page.url}: {error}"))
    page.on(
        "console", lambda line: trouble.append(f"{page.url}: {line.text}") if line.type != "log" else None
    )
    page.on(
        "response",
        lambda answer: trouble.append(f"{answer.url}: {answer.status}") if answer.status >= 400 else None,
    )
    page.on(
        "request",
        lambda request: (
            trouble.append(request.url)
            if not request.url.startswith(("http://shop.example/", "data:", "blob:"))
            else None
        ),
    )
    for path in paths:
        await page.goto("http://shop.example" + path)
        await page.wait_for_load_state("networkidle")
    assert trouble == []


async def test_dashboard_widgets_work_without_a_network(open_page):
    page = await open_page("staff")
    await page.goto("http://shop.example/dashboard/catalogue/products/1/")
    editor = page.frame_locator("iframe[id^=id_description]").locator("body")
    assert "Holds heat evenly" in await editor.inner_text()
    await page.goto("http://shop.example/dashboard/vouchers/create/")
    await page.locator("[data-toggle=datetimepicker]").first.click()
    await page.locator(".bootstrap-datetimepicker-widget").first.wait_for()
    await page.locator(".select2-selection").first.click()
    await page.locator(".select2-results__option").first.wait_for()
