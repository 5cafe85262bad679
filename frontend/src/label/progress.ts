// How far the labelling is: counts, the age of the picture, and the curve of trusted share and estimated accuracy.
import { find, h, svg } from "../dom";
import { number, percent, plural } from "../format";
import { on, page } from "./store";

const WIDTH = 420;
const HEIGHT = 150;
const LEFT = 44;
const TOP = 10;

export function startProgress(): void {
  on(["state"], draw);
  on(["state", "question"], drawNext);
  setInterval(() => {
    if (page.state?.picture) page.state.picture.age += 1;
    age();
  }, 1000);
}

function draw(): void {
  const { state } = page;
  if (!state) return;
  const { picture } = state;
  const tile = (value: string, text: string): HTMLElement => h("div", { class: "card" }, h("b", { class: "big" }, value), h("p", { class: "quiet" }, text));
  const all = state.labels === state.graph.nodes; // nothing is left to predict
  find("tiles").replaceChildren(
    tile(number(state.labels), state.labels === 1 ? "label" : "labels"),
    tile(all || picture?.share == null ? "–" : percent(picture.share), all || picture?.trusted == null ? "trusted" : `${picture.word}: ${number(picture.trusted)} answers`),
    tile(all || picture?.accuracy == null ? "–" : percent(picture.accuracy), "estimated accuracy of all answers"),
  );
  find("curve").replaceChildren(curve(course(state.curve, state.labels)));
  const people = Object.entries(state.people);
  find("people").textContent = people.length > 1 ? `Labels by ${people.map(([who, count]) => `${who} (${number(count)})`).join(", ")}.` : "";
  age();
}

const LAST = 5; // labels whose effect is shown

/** What the next label is expected to bring: the nodes that it represents, and what the last ones brought. */
function drawNext(): void {
  const { state, question } = page;
  const points = state ? course(state.curve, state.labels) : [];
  const now = points[points.length - 1];
  const then = now && points.filter(([labels]) => labels <= now[0] - LAST).pop();
  const parts: string[] = [];
  if (question?.kind === "label" && question.reason) parts.push(`The next label: its node ${question.reason}.`);
  if (now && then) parts.push(`The last ${now[0] - then[0]} labels changed the estimated accuracy by ${difference(now[2] - then[2])} and the trusted share by ${difference(now[1] - then[1])}.`);
  find("next").textContent = parts.join(" ");
}

/** One point for each number of labels, the latest: labels may be undone or disputed. */
const course = (points: [number, number, number][], labels: number): [number, number, number][] =>
  [...new Map(points.map((point) => [point[0], point])).values()].filter(([count]) => count <= labels).sort((one, other) => one[0] - other[0]);

/** A difference of shares in percentage points. */
const difference = (share: number): string => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)} points`;

/** Which labels the colours on the map know of. */
function age(): void {
  const { state } = page;
  if (!state?.picture) return;
  const waiting = state.labels - state.picture.labels;
  const text = state.picture.share === null && !state.refitting
    ? state.labels ? "Predictions start with labels of two classes." : "No labels yet: the first questions cover the graph."
    : state.refitting
    ? `Fitting again … The picture is of ${plural(state.picture.labels, "label")}, ${ago(state.picture.age)} old. Label on meanwhile.`
    : waiting > 0
      ? `The picture does not know the last ${plural(waiting, "label")} yet.`
      : `The picture is of all ${plural(state.picture.labels, "label")}; the last fit took ${state.picture.seconds.toFixed(1)} s.`;
  const part = find("age");
  if (part.textContent !== text) part.textContent = text;
  part.classList.toggle("stale", state.refitting);
}

const ago = (seconds: number): string => (seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`);

function curve(points: [number, number, number][]): Element {
  if (points.length < 2) return h("p", { class: "quiet" }, "The curve of trusted answers over labels starts with the second fit.");
  const labels = points.map(([count]) => count);
  const low = Math.min(...labels);
  const high = Math.max(...labels, low + 1);
  const x = (count: number): number => LEFT + ((count - low) / (high - low)) * WIDTH;
  const y = (share: number): number => TOP + (1 - share) * HEIGHT;
  const path = (column: 1 | 2): string => points.map((point, at) => `${at ? "L" : "M"}${x(point[0]).toFixed(1)},${y(point[column]).toFixed(1)}`).join("");
  const last = points[points.length - 1]!;
  const grid = [0, 0.5, 1].flatMap((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: LEFT + WIDTH, y1: y(share), y2: y(share) }),
    svg("text", { class: "tick", x: LEFT - 6, y: y(share) + 4, "text-anchor": "end" }, percent(share)),
  ]);
  const label = `Trusted share ${percent(last[1])} and estimated accuracy ${percent(last[2])} after ${last[0]} labels`;
  return svg(
    "svg",
    { viewBox: `0 0 ${LEFT + WIDTH + 12} ${TOP + HEIGHT + 42}`, role: "img", "aria-label": label },
    ...grid,
    svg("path", { class: "curve", d: path(1) }),
    svg("path", { class: "curve second", d: path(2) }),
    svg("text", { class: "tick", x: LEFT, y: TOP + HEIGHT + 18 }, `${low} labels`),
    svg("text", { class: "tick", x: LEFT + WIDTH, y: TOP + HEIGHT + 18, "text-anchor": "end" }, `${high} labels`),
    svg("text", { class: "axis", x: LEFT + WIDTH / 2, y: TOP + HEIGHT + 36, "text-anchor": "middle" }, "solid: trusted share · dashed: estimated accuracy"),
  );
}
