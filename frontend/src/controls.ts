// The colours' meaning, and the bar that says what is chosen.
import { classLabel } from "./classes";
import { count, data, given } from "./data";
import { find, h } from "./dom";
import { plural } from "./format";
import { choose, colourBy, matches, on, state } from "./store";
import { scale } from "./theme";

const MOST_IN_LEGEND = 30;

export function startColours(): void {
  const select = find("colour-by") as HTMLSelectElement;
  select.append(...data.channels.map(({ name }) => h("option", { value: name }, `what ${name} says`)));
  select.addEventListener("change", () => colourBy(select.value));
  const draw = (): void => {
    const legend = find("legend");
    if (state.colourBy === "confidence") {
      const steps = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => h("span", { class: "step", "--colour": scale(share) }, `${100 * share} %`));
      legend.replaceChildren(...steps);
      return;
    }
    const more = data.classes.length - MOST_IN_LEGEND;
    legend.replaceChildren(
      ...data.classes.slice(0, MOST_IN_LEGEND).map((_, k) => classLabel(k)),
      ...(more > 0 ? [h("span", { class: "quiet" }, `and ${more} more; colours repeat in paler shades`)] : []),
    );
  };
  on(["colourBy", "theme"], draw);
  draw();
}

export function startFilter(): void {
  const bar = find("filter");
  const draw = (): void => {
    bar.classList.toggle("open", state.filter !== null);
    if (!state.filter) {
      bar.replaceChildren();
      return;
    }
    let found = 0;
    for (let node = 0; node < count; node++) if (matches(node)) found++;
    bar.replaceChildren(
      h("span", {}, h("b", {}, plural(found, "node")), " ", ...state.filter.text),
      h("button", { type: "button", click: () => choose(null) }, "Show all"),
    );
  };
  on(["filter"], draw);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.filter && !(event.target instanceof HTMLInputElement)) choose(null);
  });
}

export function startShare(): void {
  const { trusted, doubtful, answers } = data.trust;
  if (!answers) return;
  const pick = (key: string, text: string, wanted: number) => (): void =>
    choose({ key, text: [text], test: (node) => !given(node) && data.nodes.trusted[node] === wanted });
  const part = (kind: string, value: number, word: string, wanted: number): HTMLElement =>
    h("button", { type: "button", class: `part ${kind}`, "--share": value / answers, click: pick(word, `whose answer is ${word}`, wanted) }, h("span", {}, `${plural(value, "answer")} ${word}`));
  find("share").replaceChildren(
    ...(trusted ? [part("solid", trusted, "trusted", 1)] : []),
    ...(doubtful ? [part("hatched", doubtful, "doubtful", 0)] : []),
  );
}
