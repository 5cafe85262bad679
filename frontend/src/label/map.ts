// The map: repainted after every label. Solid dots are trusted, hollow ones doubtful, ringed ones labelled.
import { createNodeBorderProgram } from "@sigma/node-border";
import Graph from "graphology";
import Sigma from "sigma";
import { ink, readable } from "../colours";
import { clip, find, h } from "../dom";
import { number, perMille } from "../format";
import { attempt, on, page, show } from "./store";

interface Dot {
  x: number;
  y: number;
  size: number;
  at: number;
}

const PULSE = 900; // milliseconds

export function startMap(): void {
  const container = find("canvas");
  let sigma: Sigma<Dot> | null = null;
  let labels = new Map<number, number>();
  let changed = new Set<number>();
  let painted: number[] = [];
  let colours = { surface: "", edge: "", ink: "", quiet: "" };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const readColours = (): void => void (colours = { surface: ink("--surface"), edge: ink("--edge"), ink: ink("--ink"), quiet: ink("--quiet") });
  const classOf = (at: number): number => labels.get(at) ?? page.picture?.prediction?.[at] ?? -1;

  const reduce = (_: string, dot: Dot): Partial<Record<string, unknown>> => {
    const { at } = dot;
    const k = classOf(at);
    const colour = k < 0 ? colours.quiet : readable(page.state!.classes[k]?.colour ?? "#999999");
    const isLabelled = labels.has(at);
    const solid = isLabelled || Boolean(page.picture?.trusted?.[at]);
    const asked = page.map!.ids[at] === page.question?.node;
    const size = asked ? dot.size + 6 : isLabelled ? dot.size + 3 : changed.has(at) && !still.matches ? dot.size + 4 : dot.size;
    return {
      ...dot,
      size,
      color: solid ? colour : colours.surface,
      ringColour: asked || isLabelled || changed.has(at) ? colours.ink : colour,
      ring: asked || isLabelled || !solid ? 0.35 : 0.05,
      zIndex: asked ? 3 : isLabelled || changed.has(at) ? 2 : 1,
    };
  };

  const start = (): void => {
    readColours();
    const graph = new Graph<Dot>({ type: "undirected" });
    const { ids, x, y, edges } = page.map!;
    const size = ids.length > 1500 ? 2.3 : ids.length > 300 ? 3 : 5;
    ids.forEach((_, at) => graph.addNode(String(at), { x: x[at]!, y: -y[at]!, size, at }));
    for (let e = 0; e < edges.length; e += 2) graph.mergeEdge(String(edges[e]), String(edges[e + 1]));
    const ringed = createNodeBorderProgram<Dot>({
      borders: [
        { size: { attribute: "ring", defaultValue: 0.3 }, color: { attribute: "ringColour" } },
        { size: { fill: true }, color: { attribute: "color" } },
      ],
    });
    try {
      sigma = new Sigma<Dot>(graph, container, {
        allowInvalidContainer: true,
        enableCameraZooming: false,
        renderLabels: false,
        zIndex: true,
        stagePadding: 16,
        defaultNodeType: "ringed",
        nodeProgramClasses: { ringed },
        nodeHoverProgramClasses: { ringed },
        nodeReducer: reduce as never,
        edgeReducer: () => ({ color: colours.edge, size: 0.4 }),
        defaultDrawNodeHover: () => undefined,
      });
    } catch {
      container.replaceChildren(h("p", { class: "quiet" }, "This browser has no WebGL, which the map needs. Labelling works without it."));
      return;
    }
    const made = sigma;
    made.on("clickNode", ({ node }) => attempt(show(ids[Number(node)]!)));
    made.on("enterNode", ({ node }) => void (find("hovered").textContent = told(Number(node))));
    made.on("leaveNode", () => void (find("hovered").textContent = ""));
    container.addEventListener("pointerdown", () => void made.setSetting("enableCameraZooming", true));
    container.addEventListener("pointerleave", () => void made.setSetting("enableCameraZooming", false));
    const total = page.state?.graph.nodes ?? ids.length;
    find("map-note").textContent = ids.length < total ? `${number(ids.length)} of ${number(total)} nodes, a sample.` : `All ${number(total)} nodes.`;
  };

  const told = (at: number): string => {
    const k = classOf(at);
    const label = k < 0 ? "no prediction yet" : page.state!.classes[k]!.name;
    const trust = labels.has(at) ? "labelled" : page.picture?.confidence ? perMille(page.picture.confidence[at]!) : "";
    return [clip(page.map!.ids[at]!, 32), clip(label, 32), trust].filter(Boolean).join(" · ");
  };

  /** Paint all nodes, or only some of them, which is much faster. */
  const repaint = (some?: Iterable<number>): void => {
    labels = new Map(page.picture?.labels);
    if (some) sigma?.refresh({ partialGraph: { nodes: [...some].map(String) }, skipIndexation: true, schedule: true });
    else sigma?.refresh(); // not scheduled: until it is done no node can be painted alone
  };
  const asked = (): number => page.map?.ids.indexOf(page.question?.node ?? "") ?? -1;
  let ringed = -1; // the node that was asked last
  on(["map"], start);
  on(["question"], () => {
    const [before, now] = [ringed, asked()];
    ringed = now;
    const some = [before, now].filter((at) => at >= 0);
    // the question is painted first: without a graphics card a frame of the map takes a tenth of a second
    if (before !== now) requestAnimationFrame(() => setTimeout(() => repaint(some)));
  });
  on(["theme"], () => {
    readColours();
    repaint();
  });
  on(["picture"], () => {
    if (!page.picture || !page.map) return;
    labels = new Map(page.picture.labels);
    const now = page.map.ids.map((_, at) => classOf(at));
    changed = new Set(painted.length ? now.flatMap((k, at) => (k !== painted[at] && painted[at]! >= 0 ? [at] : [])) : []);
    painted = now;
    find("changed").textContent = changed.size ? `${number(changed.size)} changed class with the last fit.` : "";
    ringed = asked();
    repaint();
    setTimeout(() => {
      const pulsed = changed;
      changed = new Set();
      repaint(pulsed);
    }, PULSE);
  });
}
