// The details of one node.
import { classLabel } from "./classes";
import { data, isByTrust, isTraining, nodes, rowOf, topClasses, channelClass, isTest } from "./data";
import { clip, find, h, name, nodeName } from "./dom";
import { capital, number, percent, perMille, plural } from "./format";
import { on, selectAndFocus, state } from "./store";

const LINK = /^https?:\/\/[^\s<>"]+$/;

export function startPanel(): void {
  on(["selected", "theme"], draw);
  draw();
}

/** Selects a node from elsewhere on the page and scrolls to its details. */
export function goToNode(row: number): void {
  selectAndFocus(row);
  const heading = find("panel").querySelector("h3")!;
  find("map").scrollIntoView({ block: "start" });
  if (find("panel").getBoundingClientRect().top > innerHeight / 2) heading.scrollIntoView({ block: "center" }); // below the map, on a phone
  heading.focus({ preventScroll: true });
}

export const nodeButton = (row: number, length = 24): HTMLElement =>
  h("button", { type: "button", class: "node", click: () => goToNode(row) }, nodeName(nodes.id[row]!, length));

/** A node by its id: a button if it is on the page. */
export function nodeById(id: string): HTMLElement {
  const row = rowOf(id);
  return row === undefined ? nodeName(id, 40) : nodeButton(row, 40);
}

function draw(): void {
  const panel = find("panel");
  const row = state.selected;
  if (row === null) {
    panel.replaceChildren(
      h("h3", { tabindex: -1 }, "No node selected"),
      h("p", { class: "quiet" }, "Click a dot or search for a node to see its prediction, what speaks for it, and its neighbours."),
    );
    return;
  }
  panel.replaceChildren(
    h("h3", { tabindex: -1 }, "Node ", name(nodes.id[row]!, 80)),
    h("p", { class: "prediction" }, classLabel(nodes.prediction[row]!, 80)),
    h("p", {}, status(row)),
    ...truth(row),
    ...ownRow(row),
    ...evidence(row),
    h("h4", {}, "Class probabilities"),
    probabilities(row),
    h("h4", {}, `${plural(nodes.degree[row]!, "neighbour")}`),
    neighbours(row),
  );
}

function status(row: number): string {
  if (isTraining(row)) return "This node has a training label.";
  const { basis, threshold } = data.trust;
  const kind = nodes.trusted[row] ? capital(data.trust.word) : "Doubtful";
  const corrected = nodes.corrected?.[row] ? " The prediction was corrected with confident neighbours." : "";
  if (basis === "agreement") return `${kind}: the channels ${nodes.trusted[row] ? "agree" : "disagree"}.${corrected}`;
  const measure = isByTrust ? "right with a chance of" : "probability";
  const isEnough = nodes.confidence[row]! >= 1000 * threshold!;
  const why = isEnough && !nodes.trusted[row] ? "but not enough predictions of this class are certain" : `at least ${percent(threshold!)} is required`;
  return `${kind}: ${measure} ${perMille(nodes.confidence[row]!)}; ${why}.${corrected}`;
}

function truth(row: number): HTMLElement[] {
  const label = nodes.label[row]!;
  if (!isTest(row) || label < 0) return [];
  const right = label === nodes.prediction[row];
  return [h("p", {}, right ? "✓ Right: " : "✗ Wrong: ", "the true class is ", classLabel(label, 60), ".")];
}

/** The node's own row of the table. */
function ownRow(row: number): HTMLElement[] {
  const filled = nodes.columns.filter(({ cells }) => cells[row]);
  if (!filled.length) return [];
  const value = (text: string): Node => (LINK.test(text) ? h("a", { href: text, target: "_blank", rel: "noopener noreferrer" }, clip(text, 60)) : h("bdi", {}, text));
  return [h("h4", {}, "Its row of the table"), h("dl", { class: "facts own" }, ...filled.map((column) => h("div", {}, h("dt", {}, name(column.name, 40)), h("dd", {}, value(column.cells[row]!)))))];
}

/** Which kinds of evidence speak for which class, most weight first. */
function evidence(row: number): HTMLElement[] {
  if (!data.channels.length) return [];
  const byClass = new Map<number, { weight: number; titles: string[] }>();
  for (const { name: channel, title, weight } of [...data.channels].sort((a, b) => (b.weight ?? 0) - (a.weight ?? 0))) {
    const side = byClass.get(channelClass(channel, row)) ?? { weight: 0, titles: [] };
    side.weight += weight ?? 0;
    side.titles.push(`${clip(title, 40)} ${perMille(topClasses(channel, row)[0]![1])}`);
    byClass.set(channelClass(channel, row), side);
  }
  const weighted = data.channels.some(({ weight }) => weight !== null);
  const sides = [...byClass].sort(([, a], [, b]) => b.weight - a.weight || b.titles.length - a.titles.length);
  return [
    h("h4", {}, "What speaks for which class"),
    h(
      "ul",
      { class: "sides" },
      ...sides.map(([k, { weight, titles }]) =>
        h("li", {}, h("span", { class: "side" }, classLabel(k, 34), weighted && h("span", { class: "quiet" }, `weight ${percent(weight)}`)), h("span", { class: "quiet" }, titles.join(", "))),
      ),
    ),
  ];
}

function probabilities(row: number): HTMLElement {
  // more channels than two would be too wide; the list above has their predictions
  const columns = [{ name: "final", title: "final" }, ...(data.channels.length > 2 ? [] : data.channels)];
  const byColumn = columns.map(({ name: column }) => new Map(topClasses(column, row)));
  const rows = [...byColumn[0]!.keys()].map((k) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, classLabel(k, 30)),
      ...byColumn.map((probability) => {
        const value = probability.get(k);
        return h("td", { class: "probability", "--share": (value ?? 0) / 1000 }, value === undefined ? "–" : perMille(value));
      }),
    ),
  );
  const head = h("tr", {}, h("th", { scope: "col" }, "Class"), ...columns.map(({ title }) => h("th", { scope: "col" }, clip(title, 20))));
  const rest = data.classes.length - byColumn[0]!.size;
  return h(
    "table",
    { class: columns.length > 1 ? "probabilities several" : "probabilities" },
    rest > 0 && h("caption", {}, `The other ${plural(rest, "class", "classes")} are less probable.`),
    columns.length > 1 && h("thead", {}, head),
    h("tbody", {}, ...rows),
  );
}

function neighbours(row: number): HTMLElement {
  const near = nodes.neighbours[row]!;
  const more = nodes.degree[row]! - near.length;
  if (!near.length) return h("p", { class: "quiet" }, nodes.degree[row] ? "None of them is on this page." : "The node has no edges.");
  return h(
    "ul",
    { class: "neighbours" },
    ...near.map((other) => neighbour(other, isTraining(other) ? "label" : perMille(nodes.confidence[other]!))),
    more > 0 && h("li", { class: "quiet" }, `and ${number(more)} more`),
  );
}

const neighbour = (row: number, detail: string): HTMLElement =>
  h("li", {}, nodeButton(row, 28), classLabel(nodes.prediction[row]!, 24), h("span", { class: "quiet", title: clip(nodes.id[row]!) }, detail));
