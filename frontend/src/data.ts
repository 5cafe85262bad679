// The report's data, as docs/report-data.md describes it.

export interface Answers {
  class: number[]; // the most probable classes of each node, node after node
  probability: number[]; // in thousandths
}

export interface Nodes {
  id: string[];
  prediction: number[];
  score: number[]; // thousandths
  trusted: number[];
  repaired: number[] | null;
  role: number[];
  roles: string[];
  label: number[]; // -1: unknown
  degree: number[];
  answers: Record<string, Answers>;
  neighbours: number[][];
  support: number[][] | null; // row, thousandths, row, thousandths, …
}

export interface ClassRow {
  name: string;
  colour: string;
  labels: number;
  trusted: number;
  doubtful: number;
  right: number | null;
}

export interface Channel {
  name: string;
  weight: number | null;
  accuracy: number | null;
}

export interface Measured {
  nodes: number;
  accuracy: number;
  stated: number;
  error: number;
  bars: [count: number, confidence: number, accuracy: number][];
  coverage: number[];
  risk: number[];
  area: number;
}

export interface Report {
  trust: {
    basis: "trust" | "agreement" | "probability";
    threshold: number | null;
    answers: number;
    trusted: number;
    doubtful: number;
  };
  graph: { name: string; nodes: number; edges: number; labels: number };
  classes: ClassRow[];
  channels: Channel[];
  disagreement: number[][] | null;
  nodes: Nodes;
  csv: string;
  map: { nodes: number[]; x: number[]; y: number[]; edges: number[] };
  pictures: { nodes: number[]; places: { name: string; x: number[]; y: number[] }[] };
  measured: Measured | null;
  label_next: { id: string; reason: string }[];
  label_next_csv: string;
}

export const data: Report = JSON.parse(document.getElementById("data")!.textContent!);
export const nodes = data.nodes;
export const count = nodes.id.length;

/** Number of classes that each node's answer lists. */
export const listed = count ? nodes.answers["final"]!.class.length / count : 0;

/** The class that a channel gives a node. */
export const says = (channel: string, node: number): number => nodes.answers[channel]!.class[node * listed]!;

/** Whether the node came with its label, so that nothing was asked. */
export const given = (node: number): boolean => nodes.roles[nodes.role[node]!] === "train";

/** Whether the true class is known and was not learnt from. */
export const scored = (node: number): boolean => nodes.roles[nodes.role[node]!] === "test";

const rows = new Map(nodes.id.map((id, row) => [id, row]));
export const rowOf = (id: string): number | undefined => rows.get(id);
