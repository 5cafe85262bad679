// Creating elements. Text is only set as text, so that no name can become markup.

type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return setUp(document.createElement(tag), attributes, children);
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  return setUp(document.createElementNS(SVG, tag) as SVGElement, attributes, children);
}

function setUp<E extends HTMLElement | SVGElement>(element: E, attributes: Attributes, children: Child[]): E {
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

/** Text on one line, shortened if it is long, with a dot for each control character. */
export function clip(text: string, length = 60): string {
  const plain = (text.length > 4 * length ? text.slice(0, 4 * length) : text).replace(/\s+/g, " ").replace(/\p{C}/gu, "·");
  const letters = [...plain]; // by code point: never splits a surrogate pair
  const cut = letters.length > length || text.length > 4 * length;
  return cut ? letters.slice(0, length - 1).join("") + "…" : plain || "(empty)";
}

/** Text shortened in its middle: the end of a long name, such as the id in brackets, tells it from others. */
export function clipMiddle(text: string, length: number): string {
  const letters = [...clip(text, 400)];
  const tail = Math.floor(length * 0.6);
  return letters.length > length ? `${letters.slice(0, length - tail - 1).join("").trimEnd()}…${letters.slice(-tail).join("").trimStart()}` : letters.join("");
}

/** A node's name and id: shortened in the middle. */
export function nodeName(text: string, length: number): HTMLElement {
  const shown = clipMiddle(text, length);
  return h("bdi", shown === text ? {} : { title: clip(text, 400) }, shown);
}

/** A name from the user's data: shortened if long, its text direction isolated from the text around it. */
export function name(text: string, length = 40): HTMLElement {
  const shown = clip(text, length);
  return h("bdi", shown === text ? {} : { title: clip(text, 400) }, shown);
}

export function download(file: string, content: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type: "text/csv;charset=utf-8" })), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The records of a CSV file; a quoted field may contain line breaks. */
export function records(csv: string): string[] {
  const lines: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < csv.length; at++) {
    const char = csv.charCodeAt(at);
    if (char === 34) quoted = !quoted;
    else if (char === 10 && !quoted) {
      lines.push(csv.slice(start, at + 1));
      start = at + 1;
    }
  }
  return lines;
}
