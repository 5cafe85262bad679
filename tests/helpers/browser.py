"""A real browser for tests: Debian's Chromium, driven by Playwright."""

import json
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

AXE = Path(__file__).parent / "axe" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
# WebGL without a graphics card is slow, so the rest of the page is drawn without it; root may not use the sandbox
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
ARGUMENTS += ["--disable-gpu-compositing", "--disable-gpu-rasterization"]


@contextmanager
def chromium():
    """The browser, or a skip with the reason."""
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=found, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def keep_messages(page, messages):
    """Collect what the page writes to its console; not what the driver of WebGL says of its speed."""
    page.on("console", lambda message: "GL Driver Message" in message.text or messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))


class Visit:
    """A page opened from disk, with its console messages and requests."""

    def __init__(self, browser, path, width=1280, height=900, **options):
        self.path = Path(path).absolute()
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, reduced_motion="reduce", **options
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.messages, self.requests = [], []
        keep_messages(self.page, self.messages)
        self.page.on("dialog", lambda dialog: (self.messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.path.as_uri())

    def text(self, selector):
        return self.page.locator(selector).inner_text().replace("\u00a0", " ")

    def download(self, selector):
        with self.page.expect_download() as waiting:
            self.page.click(selector)
        return Path(waiting.value.path()).read_bytes()

    def colours(self, selector):
        """Number of colours in the picture of an element: a blank one has very few."""
        from io import BytesIO

        from PIL import Image

        picture = Image.open(BytesIO(self.page.locator(selector).first.screenshot()))
        return len(picture.convert("RGB").getcolors(1 << 24))

    def faults(self):
        """Serious accessibility faults that axe-core finds, each with the element it is about."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        grave = [fault for fault in found if fault["impact"] in ("serious", "critical")]
        return json.dumps([(f["id"], [n["html"][:200] for n in f["nodes"][:3]]) for f in grave]) if grave else ""

    def is_quiet(self):
        """Nothing in the console, nothing from the network."""
        assert self.messages == []
        assert [url for url in self.requests if not url.startswith("blob:")] == [self.path.as_uri()]

    def close(self):
        self.context.close()
