// Predicted classes: how many answers, trusted and doubtful, of what is chosen.
import { count, data, given, nodes } from "./data";
import { find, h, name } from "./dom";
import { number, percent } from "./format";
import { choose, matches, on, state } from "./store";
import { classColour } from "./theme";

export function startClasses(): void {
  const list = find("class-list");
  const known = data.classes.some((row) => row.right !== null);
  const draw = (): void => {
    const tally = state.filter ? counted() : data.classes.map((row) => [row.trusted, row.doubtful]);
    const most = Math.max(1, ...tally.map(([yes, no]) => yes! + no!));
    list.replaceChildren(...data.classes.map((row, k) => line(k, tally[k]![0]!, tally[k]![1]!, most, known && !state.filter, row.right)));
  };
  on(["filter", "theme"], draw);
  draw();
}

function counted(): number[][] {
  const tally = data.classes.map(() => [0, 0]);
  for (let node = 0; node < count; node++) {
    if (!given(node) && matches(node)) tally[nodes.prediction[node]!]![nodes.trusted[node] ? 0 : 1]!++;
  }
  return tally;
}

function line(k: number, yes: number, no: number, most: number, known: boolean, right: number | null): HTMLElement {
  const row = data.classes[k]!;
  const key = `class-${k}`;
  return h(
    "li",
    { class: "class-row", "--colour": classColour(k) },
    h(
      "button",
      { class: "class-name", type: "button", "aria-pressed": String(state.filter?.key === key), click: () => chooseClass(k) },
      swatch(k),
      name(row.name, 32),
    ),
    h(
      "span",
      { class: "bar", "aria-hidden": "true" },
      h("span", { class: "solid", "--share": yes / most }),
      h("span", { class: "hatched", "--share": no / most }),
    ),
    h(
      "span",
      { class: "class-counts" },
      h("b", {}, number(yes)),
      " trusted, ",
      h("b", {}, number(no)),
      " doubtful",
      known && right !== null ? h("span", { class: "quiet" }, ` · ${percent(right)} right`) : null,
    ),
  );
}

export function chooseClass(k: number): void {
  choose({
    key: `class-${k}`,
    text: ["answered with ", name(data.classes[k]!.name)],
    test: (node) => nodes.prediction[node] === k,
  });
}

export const swatch = (k: number): HTMLElement => h("span", { class: "swatch", "--colour": classColour(k), "aria-hidden": "true" });

/** A class's name with its colour. */
export const classLabel = (k: number, most = 28): HTMLElement => h("span", { class: "class-label" }, swatch(k), name(data.classes[k]!.name, most));
