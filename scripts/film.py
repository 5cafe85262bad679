"""Make docs/images/label.webp, a short film of ``dccgcn label`` on Cora. Needs Chromium; takes a few minutes."""

import re
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from screenshots import ARGUMENTS, IMAGES

import dccgcn

LABELS = 16
SIZE = {"width": 1200, "height": 700}
WIDTH = 860  # of the film, in pixels
BRIEF, LONG = 550, 3000  # milliseconds of a frame
WAIT = 300_000  # for the slowest fit
_SAVED = "n => document.querySelector('#tiles .big')?.textContent === String(n)"
_REPAINTED = "n => performance.getEntriesByName(`repainted ${n}`).length > 0"


def main() -> None:
    cora = dccgcn.load_dataset("cora").graph
    truth = {str(node): int(k) for node, k in zip(cora.ids, cora.labels, strict=True)}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [sys.executable, "-m", "dccgcn", "label", "cora", "--no-open", "--log", f"{folder}/labels.sqlite"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        try:
            page = browser.new_page(viewport=SIZE)
            page.set_default_timeout(WAIT)
            page.goto(address(server))
            frames = film(page, truth)
        finally:
            browser.close()
            server.terminate()
            server.wait()
    durations = [BRIEF * 2] + [BRIEF] * (len(frames) - 2) + [LONG]
    path = IMAGES / "label.webp"
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=62, method=6)
    print(f"{path}: {len(frames)} frames, {path.stat().st_size / 1e6:.2f} MB")


def address(server: "subprocess.Popen[str]") -> str:
    """The address that the server prints."""
    assert server.stdout is not None
    for line in server.stdout:
        if found := re.search(r"http://\S+", line):
            return found[0]
    raise SystemExit("The server ended without printing its address.")


def film(page: Page, truth: dict[str, int]) -> list[Image.Image]:
    """One frame of each question, one of the map right after it was repainted."""
    page.fill("#name", "Ann")
    page.keyboard.press("Enter")
    page.wait_for_selector(".choices")
    page.wait_for_selector("#canvas canvas")
    page.wait_for_timeout(1500)  # WebGL draws asynchronously
    frames = [picture(page)]
    for label in range(1, LABELS + 1):
        node = page.locator("#question").get_attribute("data-node") or ""
        page.keyboard.press(str(truth[node] + 1))
        page.wait_for_function(_SAVED, arg=label)
        frames.append(picture(page))
        page.wait_for_function(_REPAINTED, arg=label)
        page.wait_for_timeout(150)
        frames.append(picture(page))
    page.wait_for_timeout(1500)
    return [*frames, picture(page)]


def picture(page: Page) -> Image.Image:
    shot = Image.open(BytesIO(page.screenshot())).convert("RGB")
    return shot.resize((WIDTH, round(WIDTH * shot.height / shot.width)), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
