// What the reader has chosen. Every part of the page listens and redraws itself.

export interface Filter {
  key: string; // chosen a second time, the same filter is taken off
  text: (string | Node)[]; // what is shown, as the end of "132 nodes …"
  test: (node: number) => boolean;
}

interface State {
  filter: Filter | null;
  selected: number | null;
  colourBy: string; // "class", "confidence" or a channel's name
}

type Part = keyof State | "visited" | "theme" | "print";

export const state: State = { filter: null, selected: null, colourBy: "class" };

const listeners: [Part[], () => void][] = [];

export function on(parts: Part[], redraw: () => void): void {
  listeners.push([parts, redraw]);
}

export function tell(part: Part): void {
  for (const [parts, redraw] of listeners) if (parts.includes(part)) redraw();
}

export function choose(filter: Filter | null): void {
  state.filter = filter && filter.key === state.filter?.key ? null : filter;
  tell("filter");
}

/** Shows a node where it is. */
export function show(node: number | null): void {
  state.selected = node;
  tell("selected");
}

/** Shows a node and goes to it on the map. */
export function select(node: number): void {
  show(node);
  tell("visited");
}

export function colourBy(what: string): void {
  state.colourBy = what;
  tell("colourBy");
}

export const matches = (node: number): boolean => !state.filter || state.filter.test(node);
