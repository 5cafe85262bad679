// The page's state: filter, selected node, colours. Each part of the page listens and redraws itself.

export interface Filter {
  key: string; // setting a filter with the same key again removes it
  text: (string | Node)[]; // follows "132 nodes"
  test: (node: number) => boolean;
}

interface State {
  filter: Filter | null;
  selected: number | null;
  colourBy: string; // "class", "confidence" or a channel's name
}

type Part = keyof State | "focus" | "theme" | "print";

export const state: State = { filter: null, selected: null, colourBy: "class" };

const listeners: [Part[], () => void][] = [];

export function on(parts: Part[], redraw: () => void): void {
  listeners.push([parts, redraw]);
}

export function notify(part: Part): void {
  for (const [parts, redraw] of listeners) if (parts.includes(part)) redraw();
}

export function setFilter(filter: Filter | null): void {
  state.filter = filter && filter.key === state.filter?.key ? null : filter;
  notify("filter");
}

/** Selects a node without moving the map. */
export function setSelected(node: number | null): void {
  state.selected = node;
  notify("selected");
}

/** Selects a node and centres the map on it. */
export function selectAndFocus(node: number): void {
  setSelected(node);
  notify("focus");
}

export function colourBy(field: string): void {
  state.colourBy = field;
  notify("colourBy");
}

export const matches = (node: number): boolean => !state.filter || state.filter.test(node);
