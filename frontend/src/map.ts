// The graph, drawn by WebGL. Full dots are trusted, hollow ones doubtful, ringed ones came with their label.
import { createNodeBorderProgram } from "@sigma/node-border";
import Graph from "graphology";
import Sigma from "sigma";
import { data, given, nodes } from "./data";
import { clip, find, h } from "./dom";
import { perMille } from "./format";
import { matches, on, show, state } from "./store";
import { ink, nodeColour } from "./theme";

interface Dot {
  x: number;
  y: number;
  size: number;
  row: number;
}

export function startMap(): void {
  const place = find("canvas");
  let sigma: Sigma<Dot>;
  try {
    sigma = draw(place, build());
  } catch {
    place.replaceChildren(h("p", { class: "quiet" }, "This browser offers no WebGL, which the map needs. The table below has every node."));
    return;
  }
  const camera = sigma.getCamera();
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  find("zoom-in").addEventListener("click", () => void camera.animatedZoom({ duration: 200 }));
  find("zoom-out").addEventListener("click", () => void camera.animatedUnzoom({ duration: 200 }));
  find("zoom-reset").addEventListener("click", () => void camera.animatedReset({ duration: 200 }));
  // the wheel scrolls the page until the reader has clicked into the map
  const engage = (yes: boolean) => (): void => void sigma.setSetting("enableCameraZooming", yes);
  place.addEventListener("pointerdown", engage(true));
  place.addEventListener("pointerleave", engage(false));

  on(["filter", "colourBy", "theme", "selected"], () => sigma.refresh({ skipIndexation: true }));
  on(["visited"], () => {
    const key = String(state.selected);
    if (!sigma.getGraph().hasNode(key)) return;
    const { x, y } = sigma.getNodeDisplayData(key)!;
    const there = { x, y, ratio: Math.min(camera.ratio, 0.35) };
    if (still.matches) camera.setState(there);
    else void camera.animate(there, { duration: 300 });
  });
  on(["print"], () => photograph(sigma));
}

function build(): Graph<Dot> {
  const graph = new Graph<Dot>({ type: "undirected" });
  const dot = data.map.nodes.length > 1500 ? 2.3 : data.map.nodes.length > 300 ? 3 : 5;
  data.map.nodes.forEach((row, at) => {
    const size = given(row) ? dot + 3 : dot + Math.min(Math.log2(1 + nodes.degree[row]!), 6) * 0.35;
    graph.addNode(String(row), { x: data.map.x[at]!, y: -data.map.y[at]!, size, row });
  });
  const ends = data.map.edges;
  for (let e = 0; e < ends.length; e += 2) graph.addEdge(String(ends[e]), String(ends[e + 1]));
  return graph;
}

function draw(place: HTMLElement, graph: Graph<Dot>): Sigma<Dot> {
  const ringed = createNodeBorderProgram<Dot>({
    borders: [
      { size: { attribute: "ring", defaultValue: 0.3 }, color: { attribute: "ringColour" } },
      { size: { fill: true }, color: { attribute: "color" } },
    ],
  });
  let colours = { paper: "", line: "", ink: "" };
  const read = (): void => {
    colours = { paper: ink("--surface"), line: ink("--edge"), ink: ink("--ink") };
  };
  read();
  on(["theme"], read);
  const sigma = new Sigma<Dot>(graph, place, {
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
      const colour = faded ? colours.line : nodeColour(row);
      const chosen = state.selected === row;
      const full = given(row) || nodes.trusted[row];
      return {
        ...dot,
        label: key,
        size: faded ? dot.size * 0.7 : chosen ? dot.size + 4 : state.filter ? dot.size * 1.3 : dot.size,
        color: full || faded ? colour : colours.paper,
        ringColour: chosen || (given(row) && !faded) ? colours.ink : colour,
        ring: full && !chosen && !given(row) ? 0.05 : 0.35,
        highlighted: chosen,
        zIndex: chosen ? 3 : faded ? 0 : given(row) ? 2 : 1,
      };
    },
    edgeReducer: (edge) => {
      const touched = state.selected !== null && graph.extremities(edge).includes(String(state.selected));
      return { color: touched ? colours.ink : colours.line, size: touched ? 1.5 : 0.4, zIndex: touched ? 1 : 0 };
    },
    defaultDrawNodeHover: (context, node) => {
      const row = Number(node.label);
      const text = `${clip(nodes.id[row]!, 32)} · ${clip(data.classes[nodes.prediction[row]!]!.name, 32)} · ${perMille(nodes.score[row]!)}`;
      context.font = `13px ${getComputedStyle(document.body).fontFamily}`;
      const width = context.measureText(text).width + 16;
      const x = Math.max(4, Math.min(node.x - width / 2, place.clientWidth - width - 4));
      const y = node.y > 60 ? node.y - node.size - 20 : node.y + node.size + 20; // above, where there is room
      context.fillStyle = colours.ink;
      context.beginPath();
      context.roundRect(x, y - 13, width, 26, 6);
      context.fill();
      context.fillStyle = colours.paper;
      context.fillText(text, x + 8, y + 4.5);
    },
  });
  sigma.on("clickNode", ({ node }) => show(Number(node)));
  sigma.on("clickStage", () => show(null));
  sigma.on("enterNode", () => void (place.style.cursor = "pointer"));
  sigma.on("leaveNode", () => void (place.style.cursor = ""));
  return sigma;
}

/** Printers get a still picture: a WebGL canvas is blank once its frame has been shown. */
function photograph(sigma: Sigma<Dot>): void {
  const still = find("still") as HTMLCanvasElement;
  const layers = Object.values(sigma.getCanvases());
  sigma.refresh({ skipIndexation: true, schedule: false });
  still.width = layers[0]!.width;
  still.height = layers[0]!.height;
  const context = still.getContext("2d")!;
  for (const layer of layers) context.drawImage(layer, 0, 0);
}
