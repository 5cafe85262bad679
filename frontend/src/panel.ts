// All that is known of one node.
import { classLabel } from "./classes";
import { data, given, listed, nodes, rowOf, says, scored } from "./data";
import { clip, find, h, name } from "./dom";
import { number, percent, perMille, plural } from "./format";
import { on, select, state } from "./store";

export function startPanel(): void {
  on(["selected", "theme"], draw);
  draw();
}

/** Shows a node that was chosen elsewhere on the page. */
export function visit(row: number): void {
  select(row);
  const heading = find("panel").querySelector("h3")!;
  find("map").scrollIntoView({ block: "start" });
  heading.focus({ preventScroll: true });
}

export const nodeButton = (row: number, most = 24): HTMLElement =>
  h("button", { type: "button", class: "node", click: () => visit(row) }, name(nodes.id[row]!, most));

/** A node by its id, as a button where the page knows it. */
export function nodeById(id: string): HTMLElement {
  const row = rowOf(id);
  return row === undefined ? name(id, 24) : nodeButton(row);
}

function draw(): void {
  const panel = find("panel");
  const row = state.selected;
  if (row === null) {
    panel.replaceChildren(
      h("h3", { tabindex: -1 }, "No node chosen"),
      h("p", { class: "quiet" }, "Click a dot, or search for an id, to see what each channel says, how probable each class is and which neighbours decided."),
    );
    return;
  }
  const answer = nodes.prediction[row]!;
  panel.replaceChildren(
    h("h3", { tabindex: -1 }, "Node ", name(nodes.id[row]!, 80)),
    h("p", { class: "answer" }, classLabel(answer, 60)),
    h("p", {}, standing(row)),
    ...truth(row),
    ...channels(row),
    h("h4", {}, "Probabilities"),
    probabilities(row),
    ...rebuilt(row),
    h("h4", {}, "Neighbours, most telling first"),
    neighbours(row),
  );
}

function standing(row: number): string {
  if (given(row)) return "This node came with its label.";
  const { basis, threshold } = data.trust;
  const kind = nodes.trusted[row] ? "Trusted" : "Doubtful";
  if (basis === "agreement") return `${kind}: the channels ${nodes.trusted[row] ? "agree" : "disagree"}.`;
  const said = basis === "trust" ? "right with a chance of" : "probability";
  return `${kind}: ${said} ${perMille(nodes.score[row]!)}, ${percent(threshold!)} is asked for.`;
}

function truth(row: number): HTMLElement[] {
  const label = nodes.label[row]!;
  if (!scored(row) || label < 0) return [];
  const right = label === nodes.prediction[row];
  return [h("p", {}, right ? "✓ Right: " : "✗ Wrong: ", "the true class is ", classLabel(label), ".")];
}

function channels(row: number): HTMLElement[] {
  if (!data.channels.length) return [];
  const says_ = data.channels.map(({ name: channel }) => {
    const k = says(channel, row);
    const share = nodes.answers[channel]!.probability[row * listed]!;
    return h("li", {}, h("span", { class: "channel" }, channel), classLabel(k), h("span", { class: "quiet" }, perMille(share)));
  });
  return [h("h4", {}, "What each channel says"), h("ul", { class: "says" }, ...says_)];
}

function probabilities(row: number): HTMLElement {
  const columns = ["final", ...data.channels.map((channel) => channel.name)];
  const chances = columns.map((column) => {
    const { class: classes, probability } = nodes.answers[column]!;
    const at = row * listed;
    return new Map(classes.slice(at, at + listed).map((k, i) => [k, probability[at + i]!]));
  });
  const rows = [...chances[0]!.keys()].map((k) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, classLabel(k, 22)),
      ...chances.map((chance) => {
        const value = chance.get(k);
        return h("td", { class: "chance", "--share": (value ?? 0) / 1000 }, value === undefined ? "–" : perMille(value));
      }),
    ),
  );
  const head = h("tr", {}, h("th", { scope: "col" }, "Class"), ...columns.map((column) => h("th", { scope: "col" }, column)));
  const rest = data.classes.length - listed;
  return h(
    "table",
    { class: "chances" },
    rest > 0 && h("caption", {}, `The other ${plural(rest, "class", "classes")} are less probable.`),
    h("thead", {}, head),
    h("tbody", {}, ...rows),
  );
}

function rebuilt(row: number): HTMLElement[] {
  if (!nodes.repaired?.[row]) return [];
  const support = nodes.support?.[row] ?? [];
  if (!support.length) return [h("h4", {}, "Rebuilt"), h("p", {}, "The channels disagreed, so the answer was rebuilt from confident neighbours.")];
  const lines = [];
  for (let at = 0; at < support.length; at += 2) lines.push(neighbour(support[at]!, perMille(support[at + 1]!)));
  return [h("h4", {}, "Rebuilt from"), h("ul", { class: "near" }, ...lines)];
}

function neighbours(row: number): HTMLElement {
  const near = nodes.neighbours[row]!;
  const more = nodes.degree[row]! - near.length;
  if (!near.length) return h("p", { class: "quiet" }, nodes.degree[row] ? "None of them is on this page." : "It has none: no edge ends here.");
  return h(
    "ul",
    { class: "near" },
    ...near.map((other) => neighbour(other, given(other) ? "label" : perMille(nodes.score[other]!))),
    more > 0 && h("li", { class: "quiet" }, `and ${number(more)} more`),
  );
}

const neighbour = (row: number, told: string): HTMLElement =>
  h("li", {}, nodeButton(row, 16), classLabel(nodes.prediction[row]!, 18), h("span", { class: "quiet", title: clip(nodes.id[row]!) }, told));
