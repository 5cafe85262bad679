// The embeddings in two dimensions, one canvas each, with the colours of the map.
import { data, isTraining, nodes } from "./data";
import { clip, find, h } from "./dom";
import { perMille } from "./format";
import { matches, on, setSelected, state } from "./store";
import type { Projection } from "./schema";
import { ink, mix } from "./colours";
import { nodeColour } from "./theme";

const MARGIN = 0.03;
const MAX_DISTANCE = 12; // pixels between a click and the dot it selects

export function startEmbeddings(): void {
  const list = find("embedding-list");
  for (const projection of data.embeddings.projections) list.append(figure(projection));
}

function figure(projection: Projection): HTMLElement {
  const canvas = h("canvas", { role: "img", "aria-label": `The ${projection.name} embedding of the nodes in two dimensions` });
  const hovered = h("span", { class: "hovered" });
  const rows = data.embeddings.nodes;
  const order = rows.map((_, at) => at).sort((a, b) => Number(isTraining(rows[a]!)) - Number(isTraining(rows[b]!))); // training labels on top
  const width = Math.max(...projection.x, 1);
  const height = Math.max(...projection.y, 1);

  const position = (at: number): [number, number] => {
    const size = canvas.clientWidth;
    const scaled = (value: number, extent: number): number =>
      size * (MARGIN + (1 - 2 * MARGIN) * (value / 10000 + (1 - extent / 10000) / 2)); // centred
    return [scaled(projection.x[at]!, width), scaled(projection.y[at]!, height)];
  };
  const draw = (): void => {
    const size = canvas.clientWidth;
    if (!size) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(size * ratio);
    const context = canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    const [surface, edge, black] = [ink("--surface"), ink("--edge"), ink("--ink")];
    const passes = [order.filter((at) => !matches(rows[at]!)), order.filter((at) => matches(rows[at]!))];
    passes.forEach((pass, matching) => {
      for (const at of pass) {
        const row = rows[at]!;
        const [x, y] = position(at);
        const colour = matching ? nodeColour(row) : edge;
        const selected = state.selected === row;
        context.beginPath();
        context.arc(x, y, selected ? 7 : isTraining(row) ? 5 : 2.6, 0, 2 * Math.PI);
        context.fillStyle = isTraining(row) || nodes.trusted[row] || !matching ? colour : mix(surface, colour, 0.22);
        context.strokeStyle = selected || (isTraining(row) && matching) ? black : colour;
        context.lineWidth = selected || isTraining(row) ? 1.6 : 1;
        context.fill();
        context.stroke();
      }
    });
  };
  const nearest = (event: MouseEvent): number | null => {
    const box = canvas.getBoundingClientRect();
    let [best, least] = [-1, MAX_DISTANCE ** 2];
    for (let at = 0; at < rows.length; at++) {
      const [x, y] = position(at);
      const distance = (x - event.clientX + box.left) ** 2 + (y - event.clientY + box.top) ** 2;
      if (distance < least && matches(rows[at]!)) [best, least] = [at, distance];
    }
    return best < 0 ? null : rows[best]!;
  };
  canvas.addEventListener("mousemove", (event) => {
    const row = nearest(event);
    canvas.style.cursor = row === null ? "" : "pointer";
    hovered.textContent = row === null ? "" : `${clip(nodes.id[row]!, 20)} · ${clip(data.classes[nodes.prediction[row]!]!.name, 24)} · ${perMille(nodes.confidence[row]!)}`;
  });
  canvas.addEventListener("mouseleave", () => (hovered.textContent = ""));
  canvas.addEventListener("click", (event) => setSelected(nearest(event)));
  on(["filter", "colourBy", "theme", "selected"], draw);
  new ResizeObserver(draw).observe(canvas);
  return h("figure", {}, h("figcaption", {}, h("b", {}, projection.name === "final" ? "final prediction" : (data.channels.find(({ name }) => name === projection.name)?.title ?? projection.name)), hovered), canvas);
}
