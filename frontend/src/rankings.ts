// The nodes that most probably belong to a class that is rare or never predicted.
import { classLabel } from "./classes";
import { data } from "./data";
import { find, h } from "./dom";
import { number, percent, perMille, plural } from "./format";
import { nodeById } from "./panel";
import { on } from "./store";
import type { ClassRanking } from "./schema";

const OPEN = 2; // lists that are open at first

export function startRankings(): void {
  if (!data.rankings.length) return;
  const part = find("rankings");
  const draw = (): void => {
    const open = [...part.querySelectorAll("details")].map((one) => one.open);
    part.replaceChildren(...data.rankings.map((ranking, at) => list(ranking, open[at] ?? at < OPEN)));
  };
  on(["theme"], draw);
  draw();
}

function list(ranking: ClassRanking, open: boolean): HTMLElement {
  const { labels, verdict } = data.classes[ranking.class_position]!;
  const facts = [`${plural(labels, "training label")} of ${number(data.graph.labels)}`, verdict];
  const { average_precision: precision, recall, test_nodes: members } = ranking;
  const test =
    precision !== null && recall !== null && members !== null &&
    `On the test nodes the average precision of this ranking is ${percent(precision)}; among its first ${number(members)} are ${percent(recall)} of the ${plural(members, "node")} of the class.`;
  return h(
    "details",
    { class: "ranking", open },
    h("summary", {}, classLabel(ranking.class_position, 80), h("span", { class: "quiet" }, ` ${facts.join(", ")}`)),
    h("p", { class: "quiet" }, "Node, probability of this class, and the class that is predicted for it.", test && ` ${test}`),
    h(
      "ol",
      { class: "ranked" },
      ...ranking.nodes.map(({ id, probability, prediction }) =>
        h("li", {}, nodeById(id), h("span", { class: "probability", "--share": probability / 1000 }, perMille(probability)), h("span", {}, h("span", { class: "hidden" }, "predicted as "), classLabel(prediction, 26))),
      ),
    ),
  );
}
