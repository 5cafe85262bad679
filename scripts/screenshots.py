"""Draw docs/images/report-*.png, the screenshots of a report in the README. Needs Chromium."""

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import dccgcn

IMAGES = Path(__file__).parent.parent / "docs" / "images"
# WebGL without a graphics card; root may not use Chromium's sandbox
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main() -> None:
    cora = dccgcn.load_dataset("cora").graph
    result = dccgcn.run(cora, dccgcn.per_class(cora, 5, seed=0))
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        result.report(report)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for name, scheme, part in (("verdict", "light", "header"), ("map", "dark", "#map")):
            page = browser.new_page(
                viewport={"width": 1200, "height": 860}, color_scheme=scheme, reduced_motion="reduce"
            )
            page.set_default_timeout(300_000)  # a busy machine draws slowly
            page.goto(report.as_uri())
            page.wait_for_timeout(1500)  # WebGL draws asynchronously
            page.locator(part).evaluate("part => part.scrollIntoView()")
            save(page, IMAGES / f"report-{name}.png")
            page.close()
        browser.close()


def save(page: Page, path: Path) -> None:
    """256 colours are enough for flat surfaces, and a quarter of the size."""
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    picture.save(path, optimize=True)


if __name__ == "__main__":
    main()
