// Confidence against accuracy on the test nodes: a reliability diagram and a risk-coverage curve.
import { data } from "./data";
import { find, h, svg } from "./dom";
import { number, percent } from "./format";
import type { Calibration } from "./schema";

const SIZE = 300;
const LEFT = 58;
const BOTTOM = 40;
const TOP = 10;

export function startCharts(): void {
  const { calibration } = data;
  if (!calibration) return;
  find("charts").append(reliability(calibration), riskCoverage(calibration));
}

const across = (share: number): number => LEFT + share * SIZE;
const up = (share: number): number => TOP + (1 - share) * SIZE;

function frame(title: string, x: string, y: string, top: number, ...marks: SVGElement[]): SVGElement {
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: LEFT + SIZE, y1: up(share), y2: up(share) }),
    svg("text", { class: "tick", x: LEFT - 6, y: up(share) + 4, "text-anchor": "end" }, percent(share * top)),
    svg("text", { class: "tick", x: across(share), y: TOP + SIZE + 16, "text-anchor": "middle" }, percent(share)),
  ]);
  return svg(
    "svg",
    { viewBox: `0 0 ${LEFT + SIZE + 22} ${TOP + SIZE + BOTTOM}`, role: "img", "aria-label": title },
    ...ticks,
    ...marks,
    svg("text", { class: "axis", x: across(0.5), y: TOP + SIZE + 34, "text-anchor": "middle" }, x),
    svg("text", { class: "axis", x: -up(0.5), y: 10, "text-anchor": "middle", transform: "rotate(-90)" }, y),
  );
}

function reliability(calibration: Calibration): HTMLElement {
  const largest = Math.max(...calibration.bins.map(({ count }) => count));
  const marks = calibration.bins.map(({ count, confidence, accuracy }) =>
    svg(
      "g",
      { class: accuracy < confidence ? "over" : "under" },
      svg("line", { class: "gap", x1: across(confidence), x2: across(confidence), y1: up(confidence), y2: up(accuracy) }),
      svg(
        "circle",
        { cx: across(confidence), cy: up(accuracy), r: 3.5 + 4 * Math.sqrt(count / largest) },
        svg("title", {}, `${number(count)} nodes: confidence ${percent(confidence)}, accuracy ${percent(accuracy)}`),
      ),
    ),
  );
  const gap = calibration.mean_confidence - calibration.accuracy;
  const summary =
    Math.abs(gap) < 0.01
      ? "On average, confidence and accuracy match"
      : `On average, the confidence is ${(100 * Math.abs(gap)).toFixed(1)} points too ${gap > 0 ? "high (over-confident)" : "low (under-confident)"}`;
  const diagonal = svg("line", { class: "ideal", x1: across(0), x2: across(1), y1: up(0), y2: up(1) });
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, "Does 80\u00a0% confidence mean 80\u00a0% right? "), `${summary}; the expected calibration error is ${percent(calibration.ece, 1)}.`),
    frame("Reliability diagram: accuracy against confidence", "confidence", "accuracy", 1, diagonal, ...marks),
  );
}

function riskCoverage(calibration: Calibration): HTMLElement {
  const highest = Math.max(...calibration.risk);
  const ceiling = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8].find((round) => round >= highest) ?? 1;
  const path = calibration.coverage.map((c, at) => `${at ? "L" : "M"}${across(c).toFixed(1)},${up(calibration.risk[at]! / ceiling).toFixed(1)}`);
  const wrong = 1 - calibration.accuracy;
  const marks = [
    svg("line", { class: "ideal", x1: across(0), x2: across(1), y1: up(wrong / ceiling), y2: up(wrong / ceiling) }),
    svg("path", { class: "curve", d: path.join("") }),
  ];
  const { trusted, predictions, basis, word } = data.trust;
  if (trusted && basis !== "agreement") {
    const share = trusted / predictions;
    marks.push(svg("line", { class: "cut", x1: across(share), x2: across(share), y1: up(0), y2: up(1) }));
    const [x, anchor] = share > 0.7 ? [across(share) - 6, "end"] : [across(share) + 6, "start"];
    marks.push(svg("text", { class: "tick", x, y: up(0) - 8, "text-anchor": anchor }, `${word}: ${percent(share)}`));
  }
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, "How many of the most confident are wrong? "),
      `${percent(calibration.aurc, 1)} on average over all coverages; ${percent(wrong, 1)} without ranking by confidence (dashed).`,
    ),
    frame("Risk-coverage curve: error rate against coverage, most confident predictions first", "coverage, most confident first", "error rate", ceiling, ...marks),
  );
}
