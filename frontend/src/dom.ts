// Making elements. Text is only ever set as text, so that no name can become markup.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return dress(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return dress(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

function dress<E extends HTMLElement | SVGElement>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (name.startsWith("--")) element.style.setProperty(name, String(value));
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
}

export const find = (id: string): HTMLElement => document.getElementById(id)!;

/** Line breaks and invisible signs made visible, and long texts cut. */
export function clip(text: string, most = 60): string {
  const plain = (text.length > 4 * most ? text.slice(0, 4 * most) : text).replace(/\s+/g, " ").replace(/\p{C}/gu, "·");
  const letters = [...plain]; // by letter, so that no pair of surrogates is torn
  const cut = letters.length > most || text.length > 4 * most;
  return cut ? letters.slice(0, most - 1).join("") + "…" : plain || "(empty)";
}

/** A name from the user's data: cut if long, and kept from turning the direction of what is around it. */
export function name(text: string, most = 40): HTMLElement {
  const shown = clip(text, most);
  return h("bdi", shown === text ? {} : { title: clip(text, 400) }, shown);
}

export function download(file: string, content: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" })), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The lines of a CSV file, where a quoted field may hold line breaks of its own. */
export function records(csv: string): string[] {
  const lines: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < csv.length; at++) {
    const sign = csv.charCodeAt(at);
    if (sign === 34) quoted = !quoted;
    else if (sign === 10 && !quoted) {
      lines.push(csv.slice(from, at + 1));
      from = at + 1;
    }
  }
  return lines;
}
