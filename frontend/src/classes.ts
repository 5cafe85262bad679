// Predictions by class, trusted and doubtful, among the nodes that the filter keeps.
import { count, data, isByTrust, isTraining, nodes } from "./data";
import { find, h, name } from "./dom";
import { capital, number, percent } from "./format";
import { shortNames } from "./names";
import { setFilter, matches, on, state } from "./store";
import { classColour } from "./theme";

const FOLD = 12; // rows before "show all"
const BAD = ["never predicted", `none ${data.trust.word}`, "no label to learn from"];

// the most predicted class first; with many classes, those with a warning are never folded away
const order = data.classes.map((_, k) => k).sort((a, b) => size(b) - size(a) || a - b);
const folded = new Set(order.filter((k, at) => at >= FOLD && !BAD.includes(data.classes[k]!.verdict)));
const hasTest = data.classes.some(({ precision }) => precision !== null);

function size(k: number): number {
  return data.classes[k]!.trusted + data.classes[k]!.doubtful;
}

export function startClasses(): void {
  const heads = ["Class", "Predictions", capital(data.trust.word), isByTrust ? "Expected right" : "Mean probability", ...(hasTest ? ["Right in test", "Found in test"] : []), "Labels"];
  const hints: Record<string, string> = {
    "Expected right": "Mean estimated chance that a prediction of this class is right",
    "Right in test": "Of the test nodes predicted as this class, the share that is right",
    "Found in test": "Of the test nodes of this class, the share that is predicted as it",
    Labels: "Training labels",
  };
  find("class-head").replaceChildren(...heads.map((text, at) => h("th", { scope: "col", class: at > 1 ? "number" : undefined, title: hints[text] }, text)));
  const more = find("class-more");
  let open = folded.size < 3;
  const draw = (): void => {
    const tally = state.filter ? countFiltered() : data.classes.map((row) => [row.trusted, row.doubtful]);
    const largest = Math.max(1, ...tally.map(([trusted, doubtful]) => trusted! + doubtful!));
    const shown = open ? order : order.filter((k) => !folded.has(k) || state.filter?.key === `class-${k}`);
    find("class-list").replaceChildren(...shown.map((k) => line(k, tally[k]![0]!, tally[k]![1]!, largest)));
    more.hidden = folded.size < 3;
    more.textContent = open ? "Show fewer classes" : `Show all ${data.classes.length} classes`;
    more.setAttribute("aria-expanded", String(open));
  };
  more.addEventListener("click", () => {
    open = !open;
    draw();
  });
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

function line(k: number, trusted: number, doubtful: number, largest: number): HTMLElement {
  const row = data.classes[k]!;
  const share = (value: number | null, label: string): HTMLElement => h("td", { class: "number", "data-label": label }, value === null || state.filter ? "–" : percent(value));
  const bad = BAD.includes(row.verdict);
  return h(
    "tr",
    { "--colour": classColour(k) },
    h(
      "th",
      { scope: "row" },
      h("button", { class: "class-name", type: "button", "aria-pressed": String(state.filter?.key === `class-${k}`), click: () => filterClass(k) }, swatch(k), name(row.name, 160)),
      h("span", { class: bad ? "tag bad" : "tag" }, row.verdict),
    ),
    h("td", { class: "bars" }, h("span", { class: "hidden" }, number(trusted + doubtful)), bar(trusted, doubtful, largest)),
    h("td", { class: "number counts", "data-label": data.trust.word }, h("b", {}, number(trusted)), h("span", { class: "quiet" }, ` of ${number(trusted + doubtful)}`)),
    share(row.expected, "expected right"),
    ...(hasTest ? [share(row.precision, "right in test"), share(row.recall, "found in test")] : []),
    h("td", { class: "number", "data-label": "labels" }, number(row.labels)),
  );
}

/** A bar of trusted and doubtful predictions. */
export const bar = (trusted: number, doubtful: number, largest: number): HTMLElement =>
  h("span", { class: "split", "aria-hidden": "true" }, h("span", { class: "solid", "--share": trusted / largest }), h("span", { class: "hatched", "--share": doubtful / largest }));

export function filterClass(k: number): void {
  setFilter({
    key: `class-${k}`,
    text: ["predicted as ", name(data.classes[k]!.name)],
    test: (node) => nodes.prediction[node] === k,
  });
}

export const swatch = (k: number): HTMLElement => h("span", { class: "swatch", "--colour": classColour(k), "aria-hidden": "true" });

/** A class's name with its colour. */
export function classLabel(k: number, length = 28): HTMLElement {
  const full = data.classes[k]!.name;
  const short = shortNames(length)[k]!;
  return h("span", { class: "class-label" }, swatch(k), h("bdi", short === full ? {} : { title: full.slice(0, 400) }, short));
}
