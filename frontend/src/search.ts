// Search for a node by its id, with suggestions that work by keyboard.
import { data, nodes, rowOf, rowText } from "./data";
import { clip, find, h, name } from "./dom";
import { selectAndFocus } from "./store";

const MAX_SUGGESTIONS = 8;

export function startSearch(): void {
  const box = find("search") as HTMLInputElement;
  const list = find("suggestions");
  const lower = nodes.id.map((id) => id.slice(0, 200).toLowerCase());
  const rows = lower.map((_, row) => rowText(row));
  let found: number[] = [];
  let active = -1;

  const show = (): void => {
    list.replaceChildren(
      ...found.map((row, at) =>
        h(
          "li",
          {
            role: "option",
            id: `suggestion-${at}`,
            "aria-selected": String(at === active),
            mousedown: (event) => {
              event.preventDefault(); // keeps the focus in the box
              pick(row);
            },
          },
          name(nodes.id[row]!),
          h("span", { class: "quiet" }, " ", clip(data.classes[nodes.prediction[row]!]!.name, 24)),
        ),
      ),
    );
    list.hidden = found.length === 0;
    box.setAttribute("aria-expanded", String(found.length > 0));
    if (active >= 0) box.setAttribute("aria-activedescendant", `suggestion-${active}`);
    else box.removeAttribute("aria-activedescendant");
  };
  const close = (): void => {
    found = [];
    active = -1;
    show();
  };
  const pick = (row: number): void => {
    box.value = clip(nodes.id[row]!);
    find("search-status").textContent = "";
    close();
    selectAndFocus(row);
  };

  box.addEventListener("input", () => {
    const query = box.value.trim().toLowerCase();
    found = query ? matching(lower, rows, query) : [];
    active = -1;
    find("search-status").textContent = query && !found.length ? "No node on this page fits." : "";
    show();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (found.length) active = (active + step + found.length) % found.length;
      show();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const row = rowOf(box.value) ?? found[Math.max(active, 0)];
      if (row !== undefined) pick(active >= 0 ? found[active]! : row);
    } else if (event.key === "Escape") close();
  });
  box.addEventListener("blur", close);
}

/** Ids that start with the text, then ids that contain it, then nodes with it in their row of the table. */
function matching(ids: string[], texts: string[], query: string): number[] {
  const starting: number[] = [];
  const containing: number[] = [];
  const inRow: number[] = [];
  for (let row = 0; row < ids.length && starting.length < MAX_SUGGESTIONS; row++) {
    const at = ids[row]!.indexOf(query);
    if (at === 0) starting.push(row);
    else if (at > 0 && containing.length < MAX_SUGGESTIONS) containing.push(row);
    else if (at < 0 && inRow.length < MAX_SUGGESTIONS && texts[row]!.includes(query)) inRow.push(row);
  }
  return [...starting, ...containing, ...inRow].slice(0, MAX_SUGGESTIONS);
}
