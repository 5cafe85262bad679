// The legend of colours, the bar that shows the filter, and the bar of trusted and doubtful predictions.
import { classLabel } from "./classes";
import { count, data, isTraining } from "./data";
import { find, h } from "./dom";
import { number, plural } from "./format";
import { colourBy, matches, on, setFilter, state } from "./store";
import { scale } from "./theme";

const MAX_LEGEND = 30;

export function startColours(): void {
  const select = find("colour-by") as HTMLSelectElement;
  select.append(...data.channels.map(({ name }) => h("option", { value: name }, `${name} prediction`)));
  select.addEventListener("change", () => colourBy(select.value));
  const draw = (): void => {
    const legend = find("legend");
    if (state.colourBy === "confidence") {
      const steps = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => h("span", { class: "step", "--colour": scale(share) }, `${100 * share} %`));
      legend.replaceChildren(...steps);
      return;
    }
    const more = data.classes.length - MAX_LEGEND;
    legend.replaceChildren(
      ...data.classes.slice(0, MAX_LEGEND).map((_, k) => classLabel(k)),
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
      h("button", { type: "button", click: () => setFilter(null) }, "Show all"),
    );
  };
  on(["filter"], draw);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && state.filter && !(event.target instanceof HTMLInputElement)) setFilter(null);
  });
}

export function startShare(): void {
  const { trusted, doubtful, predictions } = data.trust;
  if (!predictions) return;
  const filterBy = (key: string, text: string, wanted: number) => (): void =>
    setFilter({ key, text: [text], test: (node) => !isTraining(node) && data.nodes.trusted[node] === wanted });
  const part = (kind: string, value: number, word: string, wanted: number): HTMLElement =>
    h("button", { type: "button", class: `part ${kind}`, "--share": value / predictions, click: filterBy(word, `whose prediction is ${word}`, wanted) }, h("span", {}, `${number(value)} ${word}`));
  find("share").replaceChildren(
    ...(trusted ? [part("solid", trusted, "trusted", 1)] : []),
    ...(doubtful ? [part("hatched", doubtful, "doubtful", 0)] : []),
  );
}
