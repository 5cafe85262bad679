// Light or dark, and colours that can be read on either.
const root = document.documentElement;
export const system = matchMedia("(prefers-color-scheme: dark)");
export const printing = matchMedia("print");

export const isDark = (): boolean => !printing.matches && (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

/** A colour of the style sheet. */
export const ink = (variable: string): string => getComputedStyle(root).getPropertyValue(variable).trim();

type Rgb = [number, number, number];

const parse = (hex: string): Rgb => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)) as Rgb;
const hex = (rgb: Rgb): string => "#" + rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("");
export const mix = (one: string, other: string, share: number): string => {
  const [a, b] = [parse(one), parse(other)];
  return hex(a.map((part, at) => part + (b[at]! - part) * share) as Rgb);
};

/** A colour of the palette; dark ones are lightened on a dark page, yellow is darkened on a light one. */
export function readable(colour: string): string {
  const [red, green, blue] = parse(colour);
  const bright = (0.3 * red + 0.59 * green + 0.11 * blue) / 255;
  if (isDark()) return bright < 0.2 ? mix(colour, "#ffffff", 0.85) : bright < 0.5 ? mix(colour, "#ffffff", 0.28) : colour;
  return bright > 0.75 ? mix(colour, "#000000", 0.17) : colour;
}
