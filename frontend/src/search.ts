// Finding a node by its id: a box whose suggestions can be reached by keyboard.
import { data, nodes, rowOf } from "./data";
import { clip, find, h, name } from "./dom";
import { select } from "./store";

const MOST = 8;

export function startSearch(): void {
  const box = find("search") as HTMLInputElement;
  const list = find("suggestions");
  const lower = nodes.id.map((id) => id.slice(0, 200).toLowerCase());
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
              take(row);
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
  const take = (row: number): void => {
    box.value = clip(nodes.id[row]!);
    find("search-told").textContent = "";
    close();
    select(row);
  };

  box.addEventListener("input", () => {
    const wanted = box.value.trim().toLowerCase();
    found = wanted ? best(lower, wanted) : [];
    active = -1;
    find("search-told").textContent = wanted && !found.length ? "No node of this page has such an id." : "";
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
      if (row !== undefined) take(active >= 0 ? found[active]! : row);
    } else if (event.key === "Escape") close();
  });
  box.addEventListener("blur", close);
}

/** Ids that begin with the text, then those that hold it. */
function best(ids: string[], wanted: string): number[] {
  const begin: number[] = [];
  const hold: number[] = [];
  for (let row = 0; row < ids.length && begin.length < MOST; row++) {
    const at = ids[row]!.indexOf(wanted);
    if (at === 0) begin.push(row);
    else if (at > 0 && hold.length < MOST) hold.push(row);
  }
  return [...begin, ...hold].slice(0, MOST);
}
