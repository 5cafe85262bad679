// Light or dark: the system setting, until the button changes it. Colours of classes and nodes.
import { data, nodes, channelClass } from "./data";
import { find } from "./dom";
import { state, notify } from "./store";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const printing = matchMedia("print");

export const isDark = (): boolean => !printing.matches && (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

export function startTheme(): void {
  const button = find("theme");
  const show = (): void => {
    button.textContent = isDark() ? "Light" : "Dark";
    notify("theme");
  };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  printing.addEventListener("change", show);
  let chosen: string | undefined;
  window.addEventListener("beforeprint", () => {
    chosen = root.dataset.theme;
    root.dataset.theme = "light"; // paper is light
    show();
    notify("print");
  });
  window.addEventListener("afterprint", () => {
    if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme;
    show();
  });
  show();
}

/** A colour of the style sheet. */
export const ink = (variable: string): string => getComputedStyle(root).getPropertyValue(variable).trim();

type Rgb = [number, number, number];

const parse = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
const hex = (rgb: Rgb): string => "#" + rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
export const mix = (one: string, other: string, share: number): string => {
  const [a, b] = [parse(one), parse(other)];
  return hex(a.map((part, at) => part + (b[at]! - part) * share) as Rgb);
};

/** A class's colour from the palette; black is lightened on a dark page, yellow darkened on a light one. */
export function classColour(k: number): string {
  const colour = data.classes[k]!.colour;
  const [red, green, blue] = parse(colour);
  const bright = (0.3 * red + 0.59 * green + 0.11 * blue) / 255;
  if (isDark()) return bright < 0.2 ? mix(colour, "#ffffff", 0.85) : colour;
  return bright > 0.75 ? mix(colour, "#000000", 0.17) : colour;
}

// five points of matplotlib's cividis, safe for colour-blind readers; its dark end is lightened on a dark page
const SCALE = ["#00224e", "#414d6b", "#7c7b78", "#bcae6c", "#fee838"];

export function scale(share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  const colour = mix(SCALE[low]!, SCALE[low + 1]!, at - low);
  return isDark() ? mix(colour, "#8fa3c8", 0.35 * (1 - share)) : colour;
}

/** The colour of a node on the map and in the embeddings. */
export function nodeColour(node: number): string {
  if (state.colourBy === "class") return classColour(nodes.prediction[node]!);
  if (state.colourBy === "confidence") return scale(nodes.confidence[node]! / 1000);
  return classColour(channelClass(state.colourBy, node));
}
