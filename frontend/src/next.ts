// The nodes whose labels would help most.
import { data, rowOf } from "./data";
import { download, find, h, name, records } from "./dom";
import { nodeById } from "./panel";
import { matches, on } from "./store";

const FOLD = 8;

export function startNext(): void {
  const list = find("next-list");
  if (!data.label_next.length) return;
  const status = find("next-status");
  const more = find("next-more");
  let open = data.label_next.length <= FOLD + 2;
  more.addEventListener("click", () => {
    open = true;
    draw();
  });
  const draw = (): void => {
    const all = filtered();
    const shown = open ? all : all.slice(0, FOLD);
    more.hidden = shown.length === all.length;
    more.textContent = `Show all ${all.length}`;
    list.replaceChildren(...shown.map(({ id, reason }) => h("li", {}, nodeById(id), h("span", {}, name(reason, 180)))));
    status.textContent = shown.length ? "" : "None of them is among the filtered nodes.";
  };
  find("next-copy").addEventListener("click", () => {
    const text = filtered().map(({ id }) => id).join("\n");
    void copy(text).then((done) => (status.textContent = done ? "Copied, one id per line." : "This browser does not allow copying; use the download."));
  });
  find("next-download").addEventListener("click", () => {
    const lines = records(data.label_next_csv);
    const rows = filtered().map((suggestion) => lines[data.label_next.indexOf(suggestion) + 1]);
    download("label-next.csv", lines[0]! + rows.join(""));
  });
  on(["filter"], draw);
  draw();
}

const filtered = (): typeof data.label_next =>
  data.label_next.filter(({ id }) => {
    const row = rowOf(id);
    return row === undefined || matches(row);
  });

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "hidden", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
