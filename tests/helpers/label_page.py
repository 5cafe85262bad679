"""A person at the labelling page, driven by Playwright."""

from helpers.browser import Visitor

WAIT = 300_000  # milliseconds: the kernels may have to be compiled first, on a busy machine
SLOW = """([path, before, after]) => {
  const quick = window.fetch, wait = (time) => new Promise((go) => setTimeout(go, time));
  window.requested ??= new Set();
  window.fetch = async (url, init) => {
    if (!String(url).startsWith(path)) return quick(url, init);
    window.requested.add(path);
    await wait(before);
    const answer = await quick(url, init);
    await wait(after);
    return answer;
  };
}"""


class Person(Visitor):
    """A browser of its own, with a name."""

    def __init__(self, browser, address, name, **options):
        super().__init__(browser, **options)
        self.page.set_default_timeout(WAIT)
        self.open(address)
        self.page.fill("#name", name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".choices")

    def open(self, address):
        self.page.goto(address)
        assert "token" not in self.page.url

    @property
    def node(self):
        return self.page.locator(".row dd").first.inner_text()

    @property
    def labels(self):
        return int(self.page.locator("#tiles .big").first.inner_text().replace(",", ""))

    @property
    def has_trusted(self):
        """Which nodes are asked for depends on how fast the fits are, and so does whether 30 labels are enough."""
        return self.page.locator("#start-audit").is_enabled()

    def classes(self):
        return [text.split("\n")[-1].strip() for text in self.page.locator(".choice:not(.plain)").all_inner_texts()]

    def wait_for_labels(self, count):
        self.page.wait_for_function("n => document.querySelector('#tiles .big')?.textContent === n", arg=str(count))

    def wait_for_picture(self, count):
        text = f"The picture is of all {count} label"
        script = "text => document.getElementById('age').textContent.startsWith(text)"
        self.page.wait_for_function(script, arg=text)

    def answer(self, truth):
        """By the digit of the right class."""
        node, before = self.node, self.labels
        self.page.keyboard.press(str(sorted(set(truth.values())).index(truth[node]) + 1))
        self.wait_for_labels(before + 1)
        return node

    def accept(self):
        """By Enter, again if the proposal has just changed."""
        labels = str(self.labels + 1)
        told = """n => document.querySelector('#tiles .big').textContent === n ? "saved"
            : document.getElementById("live").textContent.includes("again") ? "again" : "" """
        done = "again"
        while done == "again":
            self.page.evaluate("document.getElementById('live').textContent = ''")
            self.page.keyboard.press("Enter")
            done = self.page.wait_for_function(told, arg=labels).json_value()

    def search(self, node):
        """Find a node and wait until it is shown."""
        self.page.keyboard.press("/")
        self.page.fill("#search", node)
        self.page.wait_for_selector("#found button")
        self.page.keyboard.press("Enter")
        self.page.wait_for_function("node => document.querySelector('.row dd').textContent === node", arg=node)

    def check(self, truth, names, number):
        """Say what a drawn answer is."""
        drawn = self.page.locator("#accept .class-label").inner_text().strip()
        right = truth[self.node]
        self.page.keyboard.press("Enter" if right == drawn else str(names.index(right) + 1))
        script = "text => document.getElementById('audit-state').textContent.includes(text)"
        self.page.wait_for_function(script, arg=f"{number} check")

    def slow(self, path, before=0, after=0):
        """Requests of a path are sent and answered so many milliseconds later."""
        self.page.evaluate(SLOW, [path, before, after])

    def wait_for_request(self, path):
        """Until such a request has been started, of those that are slow."""
        self.page.wait_for_function("path => window.requested?.has(path)", arg=path)

    def wait_for_another_node(self, node):
        """The node that is asked for instead."""
        script = "node => document.querySelector('.row dd').textContent !== node"
        self.page.wait_for_function(script, arg=node, timeout=10_000)
        return self.node
