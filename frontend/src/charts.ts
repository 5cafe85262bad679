// Is the stated confidence true? A reliability diagram and a risk-coverage curve.
import { data, type Measured } from "./data";
import { find, h, svg } from "./dom";
import { number, percent } from "./format";

const SIZE = 300;
const LEFT = 58;
const BOTTOM = 40;
const TOP = 10;

export function startCharts(): void {
  const measured = data.measured;
  if (!measured) return;
  find("charts").append(reliability(measured), riskCoverage(measured));
}

const across = (share: number): number => LEFT + share * SIZE;
const up = (share: number): number => TOP + (1 - share) * SIZE;

function frame(title: string, x: string, y: string, most: number, ...marks: SVGElement[]): SVGElement {
  const ticks = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: LEFT + SIZE, y1: up(share), y2: up(share) }),
    svg("text", { class: "tick", x: LEFT - 6, y: up(share) + 4, "text-anchor": "end" }, percent(share * most)),
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

function reliability(measured: Measured): HTMLElement {
  const most = Math.max(...measured.bars.map(([count]) => count));
  const marks = measured.bars.map(([count, stated, right]) =>
    svg(
      "g",
      { class: right < stated ? "over" : "under" },
      svg("line", { class: "gap", x1: across(stated), x2: across(stated), y1: up(stated), y2: up(right) }),
      svg(
        "circle",
        { cx: across(stated), cy: up(right), r: 3.5 + 4 * Math.sqrt(count / most) },
        svg("title", {}, `${number(count)} nodes: ${percent(stated)} stated, ${percent(right)} right`),
      ),
    ),
  );
  const gap = measured.stated - measured.accuracy;
  const said =
    Math.abs(gap) < 0.01
      ? "On the whole, what is stated is what is right"
      : `It states ${(100 * Math.abs(gap)).toFixed(1)} points too ${gap > 0 ? "much: it is over-confident" : "little: it is under-confident"}`;
  const diagonal = svg("line", { class: "ideal", x1: across(0), x2: across(1), y1: up(0), y2: up(1) });
  return h(
    "figure",
    {},
    h("figcaption", {}, h("b", {}, "When it says 80 %, is it right 80 % of the time? "), `${said}; the calibration error is ${percent(measured.error, 1)}.`),
    frame("Reliability diagram: share of right answers against stated confidence", "stated confidence", "right answers", 1, diagonal, ...marks),
  );
}

function riskCoverage(measured: Measured): HTMLElement {
  const highest = Math.max(...measured.risk);
  const ceiling = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8].find((round) => round >= highest) ?? 1;
  const path = measured.coverage.map((c, at) => `${at ? "L" : "M"}${across(c).toFixed(1)},${up(measured.risk[at]! / ceiling).toFixed(1)}`);
  const wrong = 1 - measured.accuracy;
  const marks = [
    svg("line", { class: "ideal", x1: across(0), x2: across(1), y1: up(wrong / ceiling), y2: up(wrong / ceiling) }),
    svg("path", { class: "curve", d: path.join("") }),
  ];
  const { trusted, answers, basis } = data.trust;
  if (answers && basis !== "agreement") {
    const share = trusted / answers;
    marks.push(svg("line", { class: "cut", x1: across(share), x2: across(share), y1: up(0), y2: up(1) }));
    const [x, anchor] = share > 0.7 ? [across(share) - 6, "end"] : [across(share) + 6, "start"];
    marks.push(svg("text", { class: "tick", x, y: up(0) - 8, "text-anchor": anchor }, `trusted: ${percent(share)}`));
  }
  return h(
    "figure",
    {},
    h(
      "figcaption",
      {},
      h("b", {}, "How many are wrong if only the surest are used? "),
      `${percent(measured.area, 1)} on average over all shares; without a ranking it would be ${percent(wrong, 1)} (dashed).`,
    ),
    frame("Risk-coverage curve: share of wrong answers against share of nodes answered, surest first", "nodes answered, surest first", "wrong answers", ceiling, ...marks),
  );
}
