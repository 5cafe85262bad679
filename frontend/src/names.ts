// Names of classes, shortened so that different names stay different.
import { data } from "./data";
import { clip, clipMiddle } from "./dom";

const cache = new Map<number, string[]>();

/** The names of all classes, at most so many characters each. */
export function shortNames(length: number): string[] {
  let found = cache.get(length);
  if (!found) cache.set(length, (found = shorten(data.classes.map(({ name }) => clip(name, 400)), length)));
  return found;
}

/** Names that would be cut to the same text keep their beginning and the part that differs. */
function shorten(names: string[], length: number): string[] {
  const short = names.map((name) => clip(name, length));
  const alike = new Map<string, number[]>();
  short.forEach((text, k) => alike.set(text, [...(alike.get(text) ?? []), k]));
  for (const group of alike.values()) {
    if (group.length < 2) continue;
    const same = commonPrefix(group.map((k) => names[k]!));
    const from = Math.max(same.lastIndexOf(" ") + 1, same.length - Math.floor(length / 2));
    const head = same.slice(0, Math.floor(length / 3)).trim();
    for (const k of group) short[k] = `${head}… ${clip(names[k]!.slice(from), Math.max(length - head.length - 2, 4))}`;
  }
  apart(short, (k) => clipMiddle(names[k]!, length));
  apart(short, (k) => `${k + 1}: ${clip(names[k]!, Math.max(length - 4, 4))}`);
  return short;
}

/** Replace texts that occur more than once. */
function apart(short: string[], other: (k: number) => string): void {
  const twice = new Set(short.filter((text, k) => short.indexOf(text) !== k));
  short.forEach((text, k) => twice.has(text) && (short[k] = other(k)));
}

function commonPrefix(names: string[]): string {
  const [first, ...others] = names as [string, ...string[]];
  let end = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, end))) end--;
  return first.slice(0, end);
}
