// The classes that the two channels predict, as a contingency table. A cell filters the whole page.
import { data, isTraining, channelClass } from "./data";
import { clip, find, h, name } from "./dom";
import { number, plural } from "./format";
import { shortNames } from "./names";
import { on, setFilter, state } from "./store";
import { classColour } from "./theme";
import { classLabel, swatch } from "./classes";

const MAX_PAIRS = 6;

export function startEvidence(): void {
  document.querySelectorAll<HTMLElement>("#evidence-list [data-share]").forEach((cell) => {
    cell.classList.add("probability");
    cell.style.setProperty("--share", cell.dataset.share!);
  });
  startMatrix();
}

function startMatrix(): void {
  const table = data.channel_contingency;
  if (!table) return;
  const container = find("matrix");
  const [first, second] = data.channels.map((channel) => channel.name) as [string, string];
  const largest = Math.max(1, ...table.flatMap((row, i) => row.filter((_, j) => i !== j)));
  const largestSame = Math.max(1, ...table.map((row, i) => row[i]!));
  const dense = table.length > 12;

  const cell = (i: number, j: number): HTMLElement => {
    const value = table[i]![j]!;
    const strength = Math.sqrt(value / (i === j ? largestSame : largest));
    const label = `${first}: ${clip(data.classes[i]!.name)}; ${second}: ${clip(data.classes[j]!.name)}: ${plural(value, "node")}`;
    const key = `pair-${i}-${j}`;
    const content = value
      ? h(
          "button",
          {
            type: "button",
            title: label,
            "aria-label": label,
            "aria-pressed": String(state.filter?.key === key),
            "data-pair": `${i}-${j}`,
            click: () => filterPair(i, j, first, second),
          },
          dense ? "" : number(value),
        )
      : null;
    const kind = i === j ? "agree" : "differ";
    return h("td", { class: kind, "--strength": strength.toFixed(3), "--colour": i === j ? classColour(i) : undefined }, content);
  };

  const draw = (): void => {
    const heads = data.classes.map((row, j) => h("th", { scope: "col" }, h("span", { class: "vertical" }, swatch(j), h("bdi", { title: clip(row.name, 400) }, shortNames(22)[j]!))));
    const body = table.map((row, i) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, h("span", {}, h("bdi", { title: clip(data.classes[i]!.name, 400) }, shortNames(22)[i]!), swatch(i))),
        ...row.map((_, j) => cell(i, j)),
      ),
    );
    const focused = (document.activeElement as HTMLElement | null)?.dataset.pair;
    container.replaceChildren(
      h(
        "table",
        { class: dense ? "matrix dense" : "matrix" },
        h("caption", { class: "hidden" }, `Rows: class predicted by the ${first} channel. Columns: class predicted by the ${second} channel.`),
        h("thead", {}, h("tr", {}, h("td", { class: "corner" }, h("span", {}, `${second} →`), h("span", {}, `${first} ↓`)), ...heads)),
        h("tbody", {}, ...body),
      ),
    );
    const pairs = table.flatMap((row, i) => row.map((value, j) => ({ i, j, value }))).filter(({ i, j, value }) => i !== j && value);
    pairs.sort((a, b) => b.value - a.value);
    find("pairs").replaceChildren(
      ...pairs.slice(0, MAX_PAIRS).map(({ i, j, value }) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", "aria-pressed": String(state.filter?.key === `pair-${i}-${j}`), click: () => filterPair(i, j, first, second) },
            h("b", {}, number(value)),
            h("span", { class: "pair" }, h("span", { class: "quiet" }, first), classLabel(i, 22), h("span", { class: "quiet" }, second), classLabel(j, 22)),
          ),
        ),
      ),
    );
    if (focused) container.querySelector<HTMLElement>(`[data-pair="${focused}"]`)?.focus();
  };
  on(["filter", "theme"], draw);
  draw();
}

function filterPair(i: number, j: number, first: string, second: string): void {
  const [one, other] = [name(data.classes[i]!.name), name(data.classes[j]!.name)];
  setFilter({
    key: `pair-${i}-${j}`,
    text: i === j ? ["for which both channels predict ", one] : [`for which ${first} predicts `, one, ` and ${second} predicts `, other],
    test: (node) => !isTraining(node) && channelClass(first, node) === i && channelClass(second, node) === j,
  });
}
