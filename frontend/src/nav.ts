// The bar on top: marks the part of the page that is being read.
import { find } from "./dom";

export function startNav(): void {
  const bar = find("links");
  const links = [...bar.querySelectorAll<HTMLAnchorElement>("a")];
  const parts = links.map((link) => document.getElementById(link.hash.slice(1))!);
  let current = -1;
  const update = (): void => {
    let at = 0;
    parts.forEach((part, i) => {
      if (part.getBoundingClientRect().top < 120) at = i;
    });
    if (at === current) return;
    links[current]?.removeAttribute("aria-current");
    links[(current = at)]!.setAttribute("aria-current", "true");
    bar.scrollTo({ left: links[at]!.offsetLeft - bar.clientWidth / 3 });
  };
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      update();
    });
  }, { passive: true });
  update();
}
