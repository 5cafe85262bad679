// The graph, drawn by WebGL. Full dots are trusted, pale ones doubtful; ringed dots have a training label.
import { createNodeBorderProgram } from "@sigma/node-border";
import Graph from "graphology";
import Sigma from "sigma";
import { data, isTraining, nodes } from "./data";
import { clip, find, h } from "./dom";
import { perMille } from "./format";
import { matches, on, setSelected, state } from "./store";
import { ink, mix } from "./colours";
import { drawNames, placeNames } from "./communities";
import { nodeColour } from "./theme";

const PALE = 0.22; // share of its colour in a doubtful dot

interface Dot {
  x: number;
  y: number;
  size: number;
  row: number;
}

export function startMap(): void {
  const container = find("canvas");
  let sigma: Sigma<Dot>;
  try {
    sigma = draw(container, build());
  } catch {
    container.replaceChildren(h("p", { class: "quiet" }, "This browser has no WebGL, which the map needs. The table below lists all nodes."));
    return;
  }
  const camera = sigma.getCamera();
  const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
  find("zoom-in").addEventListener("click", () => void camera.animatedZoom({ duration: 200 }));
  find("zoom-out").addEventListener("click", () => void camera.animatedUnzoom({ duration: 200 }));
  find("zoom-reset").addEventListener("click", () => void camera.animatedReset({ duration: 200 }));
  // the wheel scrolls the page until the map has been clicked
  const enableZoom = (enabled: boolean) => (): void => void sigma.setSetting("enableCameraZooming", enabled);
  container.addEventListener("pointerdown", enableZoom(true));
  container.addEventListener("pointerleave", enableZoom(false));

  const names = (): ReturnType<typeof placeNames> => placeNames((at) => sigma.graphToViewport(at), container.clientWidth, container.clientHeight);
  const updateNames = (): void => drawNames(state.colourBy === "confidence" || state.filter ? [] : names());
  sigma.on("afterRender", updateNames);
  on(["filter", "colourBy", "theme", "selected"], () => sigma.refresh({ skipIndexation: true }));
  on(["focus"], () => {
    const key = String(state.selected);
    if (!sigma.getGraph().hasNode(key)) return;
    const { x, y } = sigma.getNodeDisplayData(key)!;
    const target = { x, y, ratio: Math.min(camera.ratio, 0.35) };
    if (reducedMotion.matches) camera.setState(target);
    else void camera.animate(target, { duration: 300 });
  });
  on(["print"], () => drawForPrint(sigma, names()));
}

function build(): Graph<Dot> {
  const graph = new Graph<Dot>({ type: "undirected" });
  const dot = data.map.nodes.length > 1500 ? 2.3 : data.map.nodes.length > 300 ? 3 : 5;
  data.map.nodes.forEach((row, at) => {
    const size = isTraining(row) ? dot + 3 : dot + Math.min(Math.log2(1 + nodes.degree[row]!), 6) * 0.35;
    graph.addNode(String(row), { x: data.map.x[at]!, y: -data.map.y[at]!, size, row });
  });
  const ends = data.map.edges;
  for (let e = 0; e < ends.length; e += 2) graph.addEdge(String(ends[e]), String(ends[e + 1]));
  return graph;
}

function draw(container: HTMLElement, graph: Graph<Dot>): Sigma<Dot> {
  const ringed = createNodeBorderProgram<Dot>({
    borders: [
      { size: { attribute: "ring", defaultValue: 0.3 }, color: { attribute: "ringColour" } },
      { size: { fill: true }, color: { attribute: "color" } },
    ],
  });
  let colours = { surface: "", edge: "", ink: "" };
  const readColours = (): void => {
    colours = { surface: ink("--surface"), edge: ink("--edge"), ink: ink("--ink") };
  };
  readColours();
  on(["theme"], readColours);
  const sigma = new Sigma<Dot>(graph, container, {
    allowInvalidContainer: true,
    enableCameraZooming: false,
    renderLabels: false,
    zIndex: true,
    minCameraRatio: 0.02,
    maxCameraRatio: 2,
    stagePadding: 20,
    defaultNodeType: "ringed",
    nodeProgramClasses: { ringed },
    nodeHoverProgramClasses: { ringed },
    nodeReducer: (key, dot) => {
      const { row } = dot;
      const faded = !matches(row);
      const colour = faded ? colours.edge : nodeColour(row);
      const selected = state.selected === row;
      const solid = isTraining(row) || nodes.trusted[row];
      return {
        ...dot,
        label: key,
        size: faded ? dot.size * 0.7 : selected ? dot.size + 4 : state.filter ? dot.size * 1.3 : dot.size,
        color: solid || faded ? colour : mix(colours.surface, colour, PALE),
        ringColour: selected || (isTraining(row) && !faded) ? colours.ink : colour,
        ring: solid && !selected && !isTraining(row) ? 0.05 : 0.35,
        highlighted: selected,
        zIndex: selected ? 3 : faded ? 0 : isTraining(row) ? 2 : 1,
      };
    },
    edgeReducer: (edge) => {
      const touched = state.selected !== null && graph.extremities(edge).includes(String(state.selected));
      return { color: touched ? colours.ink : colours.edge, size: touched ? 1.5 : 0.4, zIndex: touched ? 1 : 0 };
    },
    defaultDrawNodeHover: (context, node) => {
      const row = Number(node.label);
      const text = `${clip(nodes.id[row]!, 32)} · ${clip(data.classes[nodes.prediction[row]!]!.name, 32)} · ${perMille(nodes.confidence[row]!)}`;
      context.font = `13px ${getComputedStyle(document.body).fontFamily}`;
      const width = context.measureText(text).width + 16;
      const x = Math.max(4, Math.min(node.x - width / 2, container.clientWidth - width - 4));
      const y = node.y > 60 ? node.y - node.size - 20 : node.y + node.size + 20; // above the node if there is space
      context.fillStyle = colours.ink;
      context.beginPath();
      context.roundRect(x, y - 13, width, 26, 6);
      context.fill();
      context.fillStyle = colours.surface;
      context.fillText(text, x + 8, y + 4.5);
    },
  });
  sigma.on("clickNode", ({ node }) => setSelected(Number(node)));
  sigma.on("clickStage", () => setSelected(null));
  sigma.on("enterNode", () => void (container.style.cursor = "pointer"));
  sigma.on("leaveNode", () => void (container.style.cursor = ""));
  return sigma;
}

/** A copy of the map for printing: a WebGL canvas is blank once its frame has been shown. */
function drawForPrint(sigma: Sigma<Dot>, names: ReturnType<typeof placeNames>): void {
  const copy = find("print-map") as HTMLCanvasElement;
  const layers = Object.values(sigma.getCanvases());
  sigma.refresh({ skipIndexation: true, schedule: false });
  copy.width = layers[0]!.width;
  copy.height = layers[0]!.height;
  const context = copy.getContext("2d")!;
  for (const layer of layers) context.drawImage(layer, 0, 0);
  const ratio = copy.width / find("canvas").clientWidth;
  context.scale(ratio, ratio);
  for (const { text, detail, left, top } of names) {
    context.font = "600 13px sans-serif";
    context.lineWidth = 4;
    context.strokeStyle = "#ffffff";
    context.strokeText(text, left + 10, top + 14);
    context.fillText(text, left + 10, top + 14);
    context.font = "11px sans-serif";
    context.strokeText(detail, left + 10, top + 28);
    context.fillText(detail, left + 10, top + 28);
  }
}
