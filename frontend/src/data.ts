// The data of this page. Their types are generated from the schema of the Python package.
import type { Report } from "./schema";

export const data: Report = JSON.parse(document.getElementById("data")!.textContent!);
export const nodes = data.nodes;
export const count = nodes.id.length;
/** Whether confidence is the method's own estimate that a prediction is right. */
export const isByTrust = data.trust.basis === "trust" || data.trust.basis === "estimate";

/** Number of classes listed for each node, of a channel or of the final prediction. */
const classesPerNode = (channel: string): number => (count ? nodes.class_probabilities[channel]!.classes.length / count : 0);

/** The most probable classes of a node and their probabilities in thousandths, of a channel or of the final prediction. */
export function topClasses(channel: string, node: number): [number, number][] {
  const { classes, probabilities } = nodes.class_probabilities[channel]!;
  const width = classesPerNode(channel);
  const at = node * width;
  return classes.slice(at, at + width).map((k, i) => [k, probabilities[at + i]!]);
}

/** The class that a channel predicts for a node. */
export const channelClass = (channel: string, node: number): number => nodes.class_probabilities[channel]!.classes[node * classesPerNode(channel)]!;

/** Whether the node's label was trained on. */
export const isTraining = (node: number): boolean => nodes.roles[nodes.role[node]!] === "train";

/** Whether the node's true class is known and was not trained on. */
export const isTest = (node: number): boolean => nodes.roles[nodes.role[node]!] === "test";

const rows = new Map(nodes.id.map((id, row) => [id, row]));
export const rowOf = (id: string): number | undefined => rows.get(id);

/** The node's own row of the table in lower case, to search in. */
export const rowText = (node: number): string => nodes.columns.map(({ cells }) => cells[node]!).join(" ").toLowerCase();
