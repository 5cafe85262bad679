"""A real browser for tests: Debian's Chromium, driven by Playwright."""

import shutil
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

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


class Visitor:
    """A browser of its own with one page, and what the page writes to its console."""

    def __init__(self, browser, width=1280, height=900, **options):
        viewport = {"width": width, "height": height}
        self.context = browser.new_context(viewport=viewport, reduced_motion="reduce", **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.messages = []
        # not what the driver of WebGL says of its speed
        self.page.on(
            "console", lambda message: "GL Driver Message" in message.text or self.messages.append(message.text)
        )
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))

    def _keep(self, message):
        if "GL Driver Message" not in message.text:  # what the driver of WebGL says of its speed
            self.messages.append(message.text)

    def download(self, selector):
        with self.page.expect_download() as waiting:
            self.page.click(selector)
        return Path(waiting.value.path()).read_bytes()

    def faults(self):
        """Serious accessibility faults that axe-core finds, each with the elements it is about."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        grave = [fault for fault in found if fault["impact"] in ("serious", "critical")]
        return [(fault["id"], [node["html"][:200] for node in fault["nodes"][:3]]) for fault in grave]

    def close(self):
        self.context.close()


class Visit(Visitor):
    """A page opened from disk, with its dialogs and requests."""

    def __init__(self, browser, path, **options):
        super().__init__(browser, **options)
        self.path, self.requests = Path(path).absolute(), []
        self.page.on("dialog", lambda dialog: (self.messages.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(self.path.as_uri())

    def text(self, selector):
        return self.page.locator(selector).inner_text().replace("\u00a0", " ")

    def colours(self, selector):
        """Number of colours in the picture of an element: a blank one has very few."""
        picture = Image.open(BytesIO(self.page.locator(selector).first.screenshot()))
        return len(picture.convert("RGB").getcolors(1 << 24))

    def is_quiet(self):
        """Nothing in the console, nothing from the network."""
        assert self.messages == []
        assert [url for url in self.requests if not url.startswith("blob:")] == [self.path.as_uri()]
