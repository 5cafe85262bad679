// The communities of the graph: their names on the map, and a list of them.
import { bar, classLabel, swatch } from "./classes";
import { data, nodes } from "./data";
import { clip, find, h, name } from "./dom";
import { number, percent, plural } from "./format";
import { shortNames } from "./names";
import { nodeById } from "./panel";
import { on, setFilter, state } from "./store";

const FOLD = 8; // of the list
const MAX_NAMES = 14; // on the map
const groups = data.map.communities;

const alike = new Set(groups.map(({ prediction }) => prediction)).size === 1; // then the class tells nothing

interface MapName {
  text: string;
  detail: string;
  k: number; // class
  x: number;
  y: number;
}

/** Names of the communities on the map, largest first, in the coordinates of the map. */
const mapNames: MapName[] = groups.slice(0, MAX_NAMES).map(({ prediction, nodes: n, hub, x, y }) => ({
  text: alike ? `around ${clip(hub, 24)}` : shortNames(26)[prediction]!,
  detail: plural(n, "node"),
  k: prediction,
  x,
  y: -y,
}));

/** Places the names on the map; one that would cover a larger community's is left out. Returns those shown. */
export function placeNames(place: (at: { x: number; y: number }) => { x: number; y: number }, width: number, height: number): (MapName & { left: number; top: number })[] {
  const shown: (MapName & { left: number; top: number; wide: number })[] = [];
  for (const one of mapNames) {
    const at = place(one);
    const wide = Math.max(8 * one.text.length, 7 * one.detail.length) + 26;
    const left = Math.max(2, Math.min(at.x - wide / 2, width - wide - 2));
    const top = Math.max(2, at.y - 36);
    if (at.x < 0 || at.y < 0 || at.x > width || at.y > height) continue;
    if (shown.some((other) => left < other.left + other.wide && other.left < left + wide && Math.abs(top - other.top) < 36)) continue;
    shown.push({ ...one, left, top, wide });
  }
  return shown;
}

export function drawNames(shown: ReturnType<typeof placeNames>): void {
  find("map-names").replaceChildren(
    ...shown.map(({ text, detail, k, left, top }) => h("span", { class: "map-name", "--left": `${left}px`, "--top": `${top}px` }, h("b", {}, swatch(k), text), h("small", {}, detail))),
  );
}

export function startCommunities(): void {
  const part = find("communities");
  if (groups.length < 2) return;
  let open = groups.length <= FOLD + 2;
  const draw = (): void => {
    const shown = open ? groups : groups.slice(0, FOLD);
    part.replaceChildren(
      h("h3", { class: "apart" }, "Communities"),
      h("p", { class: "lead" }, "Groups of nodes with many edges among them, found from the edges alone. Select one to filter the whole page."),
      h(
        "ul",
        { class: "community-list" },
        ...shown.map((group, at) =>
          h(
            "li",
            { "--colour": `var(--ink)` },
            h(
              "button",
              { type: "button", class: "class-name", "aria-pressed": String(state.filter?.key === `community-${at}`), click: () => filterCommunity(at) },
              classLabel(group.prediction, 34),
              h("span", { class: "quiet" }, ` ${percent(group.share)}`),
            ),
            h("span", { class: "quiet hub" }, "around ", nodeById(group.hub)),
            bar(group.trusted, group.predictions - group.trusted, Math.max(...groups.map(({ predictions }) => predictions), 1)),
            h("span", { class: "number" }, h("b", {}, number(group.trusted)), h("span", { class: "quiet" }, ` of ${number(group.predictions)} ${data.trust.word}`)),
          ),
        ),
      ),
      ...(groups.length > FOLD + 2
        ? [h("button", { type: "button", class: "more-button", "aria-expanded": String(open), click: () => ((open = !open), draw()) }, open ? "Show fewer" : `Show all ${groups.length} communities`)]
        : []),
    );
  };
  on(["filter", "theme"], draw);
  draw();
}

export function filterCommunity(at: number): void {
  const { hub } = groups[at]!;
  setFilter({ key: `community-${at}`, text: ["in the community around ", name(clip(hub, 40))], test: (node) => nodes.community[node] === at });
}
