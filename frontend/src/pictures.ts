// The embeddings in two dimensions, one canvas each, drawn like the map.
import { data, given, nodes } from "./data";
import { clip, find, h } from "./dom";
import { perMille } from "./format";
import { matches, on, show, state } from "./store";
import { ink, nodeColour } from "./theme";

const MARGIN = 0.03;
const NEAR = 12; // pixels within which a click means a dot

export function startPictures(): void {
  const place = find("picture-list");
  for (const picture of data.pictures.places) place.append(figure(picture));
}

function figure(picture: { name: string; x: number[]; y: number[] }): HTMLElement {
  const canvas = h("canvas", { role: "img", "aria-label": `The nodes as the ${picture.name} embedding places them` });
  const told = h("span", { class: "told" });
  const rows = data.pictures.nodes;
  const order = rows.map((_, at) => at).sort((a, b) => Number(given(rows[a]!)) - Number(given(rows[b]!))); // labels on top
  const width = Math.max(...picture.x, 1);
  const height = Math.max(...picture.y, 1);

  const spot = (at: number): [number, number] => {
    const size = canvas.clientWidth;
    const place = (value: number, most: number): number =>
      size * (MARGIN + (1 - 2 * MARGIN) * (value / 10000 + (1 - most / 10000) / 2)); // centred
    return [place(picture.x[at]!, width), place(picture.y[at]!, height)];
  };
  const draw = (): void => {
    const size = canvas.clientWidth;
    if (!size) return;
    const sharp = window.devicePixelRatio || 1;
    canvas.width = canvas.height = Math.round(size * sharp);
    const context = canvas.getContext("2d")!;
    context.scale(sharp, sharp);
    const [paper, edge, black] = [ink("--surface"), ink("--edge"), ink("--ink")];
    const passes = [order.filter((at) => !matches(rows[at]!)), order.filter((at) => matches(rows[at]!))];
    passes.forEach((pass, matching) => {
      for (const at of pass) {
        const row = rows[at]!;
        const [x, y] = spot(at);
        const colour = matching ? nodeColour(row) : edge;
        const chosen = state.selected === row;
        context.beginPath();
        context.arc(x, y, chosen ? 7 : given(row) ? 5 : 2.6, 0, 2 * Math.PI);
        context.fillStyle = given(row) || nodes.trusted[row] || !matching ? colour : paper;
        context.strokeStyle = chosen || (given(row) && matching) ? black : colour;
        context.lineWidth = chosen || given(row) ? 1.6 : 1;
        context.fill();
        context.stroke();
      }
    });
  };
  const nearest = (event: MouseEvent): number | null => {
    const box = canvas.getBoundingClientRect();
    let [best, least] = [-1, NEAR * NEAR];
    for (let at = 0; at < rows.length; at++) {
      const [x, y] = spot(at);
      const far = (x - event.clientX + box.left) ** 2 + (y - event.clientY + box.top) ** 2;
      if (far < least && matches(rows[at]!)) [best, least] = [at, far];
    }
    return best < 0 ? null : rows[best]!;
  };
  canvas.addEventListener("mousemove", (event) => {
    const row = nearest(event);
    canvas.style.cursor = row === null ? "" : "pointer";
    told.textContent = row === null ? "" : `${clip(nodes.id[row]!, 20)} · ${clip(data.classes[nodes.prediction[row]!]!.name, 24)} · ${perMille(nodes.score[row]!)}`;
  });
  canvas.addEventListener("mouseleave", () => (told.textContent = ""));
  canvas.addEventListener("click", (event) => show(nearest(event)));
  on(["filter", "colourBy", "theme", "selected"], draw);
  new ResizeObserver(draw).observe(canvas);
  return h("figure", {}, h("figcaption", {}, h("b", {}, picture.name === "final" ? "final answer" : picture.name), told), canvas);
}
