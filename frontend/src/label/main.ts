// The labelling page: keys, dialogs, and the connection to the server.
import { isDark, system } from "../colours";
import { clip, find, h } from "../dom";
import { client, get, person, startClient } from "./api";
import { startMap } from "./map";
import { startParts } from "./parts";
import { startProgress } from "./progress";
import { accept, answer, classKeys, newClass, skip, startQuestion, undo } from "./question";
import { askNext, attempt, banner, notify, on, page, refresh, show } from "./store";

const dialog = (id: string): HTMLDialogElement => find(id) as HTMLDialogElement;
const input = (id: string): HTMLInputElement => find(id) as HTMLInputElement;
const MOST = 12; // nodes that a search lists
const WAIT = 700; // milliseconds for a second digit, with ten classes or more

startQuestion();
startMap();
startProgress();
startParts();
startTheme();
startSearch();
startKeys();
void startClient().then(startName);

on(["picture"], () => {
  const { picture, state, started } = page;
  if (!picture || !state?.picture || started === undefined || state.picture.labels < state.labels) return;
  page.started = undefined;
  requestAnimationFrame(() => setTimeout(() => performance.measure(`repainted ${state.labels}`, { start: started })));
});

const RETRY = 3000; // milliseconds until the next try to reach a server that was stopped
let waiting = false;
let again = false;

/** Fetch what changed, once more if something changed meanwhile. */
async function update(): Promise<void> {
  again = waiting;
  if (waiting) return;
  waiting = true;
  try {
    await refresh();
    find("offline").hidden = true;
  } catch (error) {
    banner((error as Error).message);
  }
  waiting = false;
  if (again) void update();
}

/** The server says when something changed. A stream that the browser gives up is opened again. */
function connect(): void {
  const stream = new EventSource(`/api/stream?${new URLSearchParams({ client })}`);
  stream.onmessage = () => void update();
  stream.onerror = () => {
    find("offline").hidden = false;
    if (stream.readyState === EventSource.CLOSED) setTimeout(connect, RETRY);
  };
}

on(["state"], () => {
  const { graph, error } = page.state!;
  find("graph-name").textContent = `${clip(graph.name, 40)} · ${graph.nodes.toLocaleString("en-GB")} nodes`;
  if (error) banner(error);
});

function startTheme(): void {
  const button = find("theme");
  const draw = (): void => {
    button.textContent = isDark() ? "Light" : "Dark";
    notify("theme");
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    draw();
  });
  system.addEventListener("change", draw);
  draw();
}

/** The name is asked once, so that others see who labelled what. */
function startName(): void {
  const showName = (): void => void (find("person").textContent = person() || "Name");
  const ask = (): void => {
    input("name").value = person();
    dialog("who").showModal();
  };
  find("who-form").addEventListener("submit", (event) => {
    if (!input("name").value.trim()) {
      event.preventDefault();
      return;
    }
    const isFirst = !person();
    localStorage.setItem("name", input("name").value.trim().slice(0, 60));
    showName();
    if (isFirst) connect();
    else attempt(askNext().then(refresh));
  });
  dialog("who").addEventListener("cancel", (event) => {
    if (!person()) event.preventDefault();
  });
  find("person").addEventListener("click", ask);
  showName();
  if (person()) connect();
  else ask();
}

function startSearch(): void {
  const list = find("found");
  let asked = 0;
  input("search").addEventListener("input", async () => {
    const mine = ++asked;
    const query = input("search").value;
    const found = await get<{ node: string; title: string }[]>("search", { q: query }).catch(() => []);
    if (mine !== asked) return; // a later one was typed
    list.replaceChildren(
      ...found.map(({ node, title }) => h("li", {}, h("button", { type: "button", class: "choice", click: () => pick(node) }, h("b", {}, clip(node, 24)), h("span", { class: "quiet" }, title === node ? "" : clip(title, 60))))),
    );
    find("search-status").textContent = query.trim() && !found.length ? "No node has this in its id or text." : found.length ? `${found.length < MOST ? `${found.length} found` : `The first ${MOST}`}; Enter opens the first.` : "";
  });
  const pick = (node: string): void => {
    dialog("find").close();
    attempt(show(node));
  };
  find("find-form").addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("button")?.click();
  });
  find("open-search").addEventListener("click", openSearch);
}

function openSearch(): void {
  input("search").value = "";
  find("found").replaceChildren();
  find("search-status").textContent = "";
  dialog("find").showModal();
}

function startKeys(): void {
  let typed = "";
  let timer = 0;
  const choose = (): void => {
    const label = page.state?.classes[classKeys().indexOf(typed)]?.name;
    typed = "";
    if (label) answer(label);
  };
  const cancel = (): void => {
    clearTimeout(timer);
    typed = "";
  };
  const digit = (key: string): void => {
    clearTimeout(timer);
    typed += key;
    if (classKeys().some((other) => other !== typed && other.startsWith(typed))) timer = window.setTimeout(choose, WAIT);
    else choose();
  };
  find("open-keys").addEventListener("click", () => dialog("keys").showModal());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const target = event.target as HTMLElement;
    if (target.closest("input, select, textarea")) return;
    if (event.key === "Enter" && target.closest("button, a, summary")) return; // it presses the button
    if (!/^[0-9]$|^Enter$/.test(event.key)) cancel();
    if (/^[0-9]$/.test(event.key)) digit(event.key);
    else if (event.key === "Enter" && typed) choose();
    else if (event.key === "Enter") accept();
    else if (event.key.toLowerCase() === "s") skip();
    else if (event.key.toLowerCase() === "u") undo();
    else if (event.key.toLowerCase() === "n") newClass();
    else if (event.key === "/") openSearch();
    else if (event.key === "?") dialog("keys").showModal();
    else return;
    event.preventDefault();
  });
}
