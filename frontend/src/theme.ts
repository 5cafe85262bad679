// Light or dark: the system setting, until the button changes it. Colours of classes and nodes.
import { isDark, mix, printing, readable, system } from "./colours";
import { data, nodes, channelClass } from "./data";
import { find } from "./dom";
import { state, notify } from "./store";

const root = document.documentElement;
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

/** A class's colour. */
export const classColour = (k: number): string => readable(data.classes[k]!.colour);

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
