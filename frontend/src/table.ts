// The table of all predictions: sorting, search, pages and download.
import { classLabel } from "./classes";
import { count, data, isTraining, nodes, channelClass, isTest, rowText } from "./data";
import { download, find, h, records } from "./dom";
import { number, perMille, plural } from "./format";
import { nodeButton } from "./panel";
import { matches, on, state } from "./store";

interface Column {
  name: string;
  value: (row: number) => number | string; // to sort by
  cell: (row: number) => Node | string;
  kind?: string;
}

const PAGE_SIZE = 25;
const natural = new Intl.Collator("en", { numeric: true });
const className = (k: number): string => data.classes[k]?.name ?? "";
const classCell = (k: number): Node | string => (k < 0 ? "" : classLabel(k, 30));
const agreeing = (row: number): number => data.channels.filter(({ name }) => channelClass(name, row) === nodes.prediction[row]).length;
const hasTruth = nodes.label.some((label, row) => label >= 0 && !isTraining(row));
const TRUST = 2; // the column that the table is sorted by at first

const COLUMNS: Column[] = [
  { name: "Node", value: (row) => nodes.id[row]!, cell: (row) => nodeButton(row, 44) },
  { name: "Prediction", value: (row) => className(nodes.prediction[row]!), cell: (row) => classCell(nodes.prediction[row]!) },
  {
    name: data.trust.basis === "trust" ? "Trust" : "Probability",
    value: (row) => (isTraining(row) ? 1001 : nodes.confidence[row]!), // training labels come last
    cell: (row) => (isTraining(row) ? "–" : perMille(nodes.confidence[row]!)),
    kind: "probability",
  },
  { name: "Status", value: status, cell: status },
  ...(data.channels.length > 2
    ? [{ name: "Evidence for it", value: agreeing, cell: (row: number) => `${agreeing(row)} of ${data.channels.length}` }]
    : data.channels.map(({ name, title }): Column => ({ name: `By ${title}`, value: (row) => className(channelClass(name, row)), cell: (row) => classCell(channelClass(name, row)) }))),
  ...(hasTruth ? [{ name: "True class", value: (row: number) => className(nodes.label[row]!), cell: truth }] : []),
];

function status(row: number): string {
  if (isTraining(row)) return "training label";
  return (nodes.trusted[row] ? data.trust.word : "doubtful") + (nodes.corrected?.[row] ? ", corrected" : "");
}

function truth(row: number): Node | string {
  const label = nodes.label[row]!;
  if (label < 0) return "";
  const mark = isTest(row) ? (label === nodes.prediction[row] ? "✓" : "✗") : "";
  const verdict = mark && h("span", { class: mark === "✓" ? "right" : "wrong", title: mark === "✓" ? "right" : "wrong" }, mark, h("span", { class: "hidden" }, mark === "✓" ? " right, " : " wrong, "));
  return h("span", {}, verdict || null, classCell(label));
}

export function startTable(): void {
  const search = find("table-search") as HTMLInputElement;
  let sorted: { column: number; down: boolean } | null = { column: TRUST, down: false };
  let page = 0;
  let rows: number[] = [];

  const collect = (): void => {
    const query = search.value.trim().toLowerCase();
    rows = [];
    for (let row = 0; row < count; row++) if (matches(row) && (!query || contains(row, query))) rows.push(row);
    if (sorted) {
      const { value } = COLUMNS[sorted.column]!;
      const sign = sorted.down ? -1 : 1;
      const compare = (a: number | string, b: number | string): number =>
        typeof a === "number" && typeof b === "number" ? a - b : natural.compare(String(a), String(b));
      rows.sort((a, b) => sign * compare(value(a), value(b)) || a - b);
    }
    page = 0;
    draw();
  };
  const draw = (): void => {
    const pages = Math.max(1, Math.ceil(rows.length / PAGE_SIZE));
    const from = page * PAGE_SIZE;
    const shown = rows.slice(from, from + PAGE_SIZE);
    find("table-head").replaceChildren(...COLUMNS.map(head));
    find("table-body").replaceChildren(
      ...shown.map((row) => h("tr", {}, ...COLUMNS.map((c) => h("td", { class: c.kind, "--share": c.kind && !isTraining(row) ? nodes.confidence[row]! / 1000 : undefined }, c.cell(row))))),
    );
    find("table-status").textContent = rows.length
      ? `${number(from + 1)} to ${number(from + shown.length)} of ${plural(rows.length, "node")}`
      : "No node matches.";
    (find("table-previous") as HTMLButtonElement).disabled = page === 0;
    (find("table-next") as HTMLButtonElement).disabled = page >= pages - 1;
    const part = find("download-part");
    part.hidden = rows.length === count || rows.length === 0;
    part.textContent = `Download these ${plural(rows.length, "row")}`;
  };
  const head = (column: Column, at: number): HTMLElement => {
    const here = sorted?.column === at ? sorted : null;
    const mark = here ? (here.down ? " ↓" : " ↑") : "";
    const sort = (): void => {
      sorted = here?.down ? null : { column: at, down: here !== null };
      collect();
      find("table-head").querySelectorAll("button")[at]?.focus();
    };
    return h("th", { scope: "col", "aria-sort": here ? (here.down ? "descending" : "ascending") : "none" }, h("button", { type: "button", click: sort }, column.name + mark));
  };

  search.addEventListener("input", collect);
  find("table-previous").addEventListener("click", () => (page--, draw()));
  find("table-next").addEventListener("click", () => (page++, draw()));
  find("download").addEventListener("click", () => download("predictions.csv", data.predictions_csv));
  find("download-part").addEventListener("click", () => {
    const lines = records(data.predictions_csv);
    download(`predictions-${state.filter?.key ?? "search"}.csv`, lines[0]! + rows.map((row) => lines[row + 1]).join(""));
  });
  on(["filter"], collect);
  on(["theme"], draw);
  collect();
}

function contains(row: number, query: string): boolean {
  return [nodes.id[row]!, className(nodes.prediction[row]!), status(row)].some((text) => text.toLowerCase().includes(query)) || rowText(row).includes(query);
}
