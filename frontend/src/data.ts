// The data of this page. Their types are generated from the schema of the Python package.
import type { Report } from "./schema";

export const data: Report = JSON.parse(document.getElementById("data")!.textContent!);
export const nodes = data.nodes;
export const count = nodes.id.length;

/** Number of classes listed for each node. */
export const classesPerNode = count ? nodes.class_probabilities["final"]!.classes.length / count : 0;

/** The class that a channel predicts for a node. */
export const channelClass = (channel: string, node: number): number => nodes.class_probabilities[channel]!.classes[node * classesPerNode]!;

/** Whether the node's label was trained on. */
export const isTraining = (node: number): boolean => nodes.roles[nodes.role[node]!] === "train";

/** Whether the node's true class is known and was not trained on. */
export const isTest = (node: number): boolean => nodes.roles[nodes.role[node]!] === "test";

const rows = new Map(nodes.id.map((id, row) => [id, row]));
export const rowOf = (id: string): number | undefined => rows.get(id);
