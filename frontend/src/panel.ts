// The details of one node.
import { classLabel } from "./classes";
import { data, isTraining, classesPerNode, nodes, rowOf, channelClass, isTest } from "./data";
import { clip, find, h, name } from "./dom";
import { number, percent, perMille, plural } from "./format";
import { on, selectAndFocus, state } from "./store";

export function startPanel(): void {
  on(["selected", "theme"], draw);
  draw();
}

/** Selects a node from elsewhere on the page and scrolls to its details. */
export function goToNode(row: number): void {
  selectAndFocus(row);
  const heading = find("panel").querySelector("h3")!;
  find("map").scrollIntoView({ block: "start" });
  heading.focus({ preventScroll: true });
}

export const nodeButton = (row: number, length = 24): HTMLElement =>
  h("button", { type: "button", class: "node", click: () => goToNode(row) }, name(nodes.id[row]!, length));

/** A node by its id: a button if it is on the page. */
export function nodeById(id: string): HTMLElement {
  const row = rowOf(id);
  return row === undefined ? name(id, 24) : nodeButton(row);
}

function draw(): void {
  const panel = find("panel");
  const row = state.selected;
  if (row === null) {
    panel.replaceChildren(
      h("h3", { tabindex: -1 }, "No node selected"),
      h("p", { class: "quiet" }, "Click a dot or search for an id to see the prediction of each channel, the class probabilities and the neighbours."),
    );
    return;
  }
  const prediction = nodes.prediction[row]!;
  panel.replaceChildren(
    h("h3", { tabindex: -1 }, "Node ", name(nodes.id[row]!, 80)),
    h("p", { class: "prediction" }, classLabel(prediction, 60)),
    h("p", {}, status(row)),
    ...truth(row),
    ...channels(row),
    h("h4", {}, "Class probabilities"),
    probabilities(row),
    ...correction(row),
    h("h4", {}, "Neighbours: labelled first, then by confidence"),
    neighbours(row),
  );
}

function status(row: number): string {
  if (isTraining(row)) return "This node has a training label.";
  const { basis, threshold } = data.trust;
  const kind = nodes.trusted[row] ? "Trusted" : "Doubtful";
  if (basis === "agreement") return `${kind}: the channels ${nodes.trusted[row] ? "agree" : "disagree"}.`;
  const measure = basis === "trust" ? "right with a chance of" : "probability";
  return `${kind}: ${measure} ${perMille(nodes.confidence[row]!)}; at least ${percent(threshold!)} is required.`;
}

function truth(row: number): HTMLElement[] {
  const label = nodes.label[row]!;
  if (!isTest(row) || label < 0) return [];
  const right = label === nodes.prediction[row];
  return [h("p", {}, right ? "✓ Right: " : "✗ Wrong: ", "the true class is ", classLabel(label), ".")];
}

function channels(row: number): HTMLElement[] {
  if (!data.channels.length) return [];
  const predictions = data.channels.map(({ name: channel, weight }) => {
    const k = channelClass(channel, row);
    const share = nodes.class_probabilities[channel]!.probabilities[row * classesPerNode]!;
    const counts = weight === null ? "" : `, weight ${percent(weight)}`;
    return h("li", {}, h("span", { class: "channel" }, channel), classLabel(k), h("span", { class: "quiet" }, perMille(share) + counts));
  });
  return [h("h4", {}, "Prediction of each channel"), h("ul", { class: "channel-predictions" }, ...predictions)];
}

function probabilities(row: number): HTMLElement {
  // more channels than two would be too wide; the list above has their predictions
  const columns = ["final", ...(data.channels.length > 2 ? [] : data.channels.map((channel) => channel.name))];
  const byColumn = columns.map((column) => {
    const { classes, probabilities } = nodes.class_probabilities[column]!;
    const at = row * classesPerNode;
    return new Map(classes.slice(at, at + classesPerNode).map((k, i) => [k, probabilities[at + i]!]));
  });
  const rows = [...byColumn[0]!.keys()].map((k) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, classLabel(k, 22)),
      ...byColumn.map((probability) => {
        const value = probability.get(k);
        return h("td", { class: "probability", "--share": (value ?? 0) / 1000 }, value === undefined ? "–" : perMille(value));
      }),
    ),
  );
  const head = h("tr", {}, h("th", { scope: "col" }, "Class"), ...columns.map((column) => h("th", { scope: "col" }, column)));
  const rest = data.classes.length - classesPerNode;
  return h(
    "table",
    { class: "probabilities" },
    rest > 0 && h("caption", {}, `The other ${plural(rest, "class", "classes")} are less probable.`),
    h("thead", {}, head),
    h("tbody", {}, ...rows),
  );
}

function correction(row: number): HTMLElement[] {
  if (!nodes.corrected?.[row]) return [];
  const support = nodes.support?.[row] ?? [];
  if (!support.length) return [h("h4", {}, "Corrected"), h("p", {}, "The channels disagreed, so the prediction was corrected with confident neighbours.")];
  const lines = [];
  for (let at = 0; at < support.length; at += 2) lines.push(neighbour(support[at]!, perMille(support[at + 1]!)));
  return [h("h4", {}, "Corrected with these neighbours"), h("ul", { class: "neighbours" }, ...lines)];
}

function neighbours(row: number): HTMLElement {
  const near = nodes.neighbours[row]!;
  const more = nodes.degree[row]! - near.length;
  if (!near.length) return h("p", { class: "quiet" }, nodes.degree[row] ? "None of them is on this page." : "None: the node has no edges.");
  return h(
    "ul",
    { class: "neighbours" },
    ...near.map((other) => neighbour(other, isTraining(other) ? "label" : perMille(nodes.confidence[other]!))),
    more > 0 && h("li", { class: "quiet" }, `and ${number(more)} more`),
  );
}

const neighbour = (row: number, detail: string): HTMLElement =>
  h("li", {}, nodeButton(row, 16), classLabel(nodes.prediction[row]!, 18), h("span", { class: "quiet", title: clip(nodes.id[row]!) }, detail));
