// Predictions by class, trusted and doubtful, among the nodes that the filter keeps.
import { count, data, isTraining, nodes } from "./data";
import { find, h, name } from "./dom";
import { number, percent } from "./format";
import { setFilter, matches, on, state } from "./store";
import { classColour } from "./theme";

export function startClasses(): void {
  const list = find("class-list");
  const hasPrecision = data.classes.some((row) => row.precision !== null);
  const draw = (): void => {
    const tally = state.filter ? countFiltered() : data.classes.map((row) => [row.trusted, row.doubtful]);
    const largest = Math.max(1, ...tally.map(([trusted, doubtful]) => trusted! + doubtful!));
    list.replaceChildren(...data.classes.map((row, k) => line(k, tally[k]![0]!, tally[k]![1]!, largest, hasPrecision && !state.filter, row.precision)));
  };
  on(["filter", "theme"], draw);
  draw();
}

function countFiltered(): number[][] {
  const tally = data.classes.map(() => [0, 0]);
  for (let node = 0; node < count; node++) {
    if (!isTraining(node) && matches(node)) tally[nodes.prediction[node]!]![nodes.trusted[node] ? 0 : 1]!++;
  }
  return tally;
}

function line(k: number, trusted: number, doubtful: number, largest: number, showPrecision: boolean, precision: number | null): HTMLElement {
  const row = data.classes[k]!;
  const key = `class-${k}`;
  return h(
    "li",
    { class: "class-row", "--colour": classColour(k) },
    h(
      "button",
      { class: "class-name", type: "button", "aria-pressed": String(state.filter?.key === key), click: () => filterClass(k) },
      swatch(k),
      name(row.name, 32),
    ),
    h(
      "span",
      { class: "bar", "aria-hidden": "true" },
      h("span", { class: "solid", "--share": trusted / largest }),
      h("span", { class: "hatched", "--share": doubtful / largest }),
    ),
    h(
      "span",
      { class: "class-counts" },
      h("b", {}, number(trusted)),
      " trusted, ",
      h("b", {}, number(doubtful)),
      " doubtful",
      showPrecision && precision !== null ? h("span", { class: "quiet" }, ` · ${percent(precision)} right`) : null,
    ),
  );
}

export function filterClass(k: number): void {
  setFilter({
    key: `class-${k}`,
    text: ["predicted as ", name(data.classes[k]!.name)],
    test: (node) => nodes.prediction[node] === k,
  });
}

export const swatch = (k: number): HTMLElement => h("span", { class: "swatch", "--colour": classColour(k), "aria-hidden": "true" });

/** A class's name with its colour. */
export const classLabel = (k: number, length = 28): HTMLElement => h("span", { class: "class-label" }, swatch(k), name(data.classes[k]!.name, length));
