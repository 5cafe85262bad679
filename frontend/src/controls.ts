// The legend of colours, the bar that shows the filter, and the bar of trusted and doubtful predictions.
import { classLabel } from "./classes";
import { count, data, isByTrust, isTraining } from "./data";
import { clip, find, h } from "./dom";
import { number, percent, plural } from "./format";
import { colourBy, matches, on, setFilter, state } from "./store";
import { scale } from "./theme";

const MOST_COLOURS = 18; // of more classes, the smaller ones are grey
const GREY = "#999999";

export function startColours(): void {
  const select = find("colour-by") as HTMLSelectElement;
  select.append(...data.channels.map(({ name, title }) => h("option", { value: name }, `class by ${clip(title, 40)}`)));
  select.addEventListener("change", () => colourBy(select.value));
  const draw = (): void => {
    const legend = find("legend");
    if (state.colourBy === "confidence") {
      const steps = [0, 0.2, 0.4, 0.6, 0.8, 1].map((share) => h("span", { class: "step", "--colour": scale(share) }, `${100 * share} %`));
      legend.replaceChildren(...steps);
      return;
    }
    const many = data.classes.length > MOST_COLOURS;
    const named = data.classes.flatMap(({ colour }, k) => (many && colour === GREY ? [] : [k]));
    legend.replaceChildren(
      ...named.map((k) => classLabel(k)),
      ...(many ? [h("span", { class: "class-label" }, h("span", { class: "swatch", "--colour": GREY }), `${data.classes.length - named.length} smaller classes`)] : []),
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

/** The bar of trusted and doubtful predictions. Its words are below it, so that a small part needs no space for them. */
export function startShare(): void {
  const { trusted, doubtful, predictions, word, mean_confidence, mean_confidence_doubtful, accuracy_trusted, accuracy_doubtful } = data.trust;
  if (!predictions) return;
  const filterBy = (called: string, wanted: number) => (): void =>
    setFilter({ key: called, text: [`whose prediction is ${called}`], test: (node) => !isTraining(node) && data.nodes.trusted[node] === wanted });
  const part = (kind: string, value: number): HTMLElement => h("span", { class: kind, "--share": value / predictions });
  const words = (kind: string, value: number, called: string, wanted: number, expected: number | null, tested: number | null): HTMLElement =>
    h(
      "button",
      { type: "button", class: "share-part", id: wanted ? "share-trusted" : "share-doubtful", click: filterBy(called, wanted) },
      h("span", { class: `key ${kind}`, "aria-hidden": "true" }),
      h("span", {}, h("b", {}, number(value)), ` ${called}`),
      h(
        "span",
        { class: "quiet" },
        [tested !== null && `${percent(tested, 1)} right in the test`, isByTrust && expected !== null && `${percent(expected)} expected right`].filter(Boolean).join(", "),
      ),
    );
  find("share").replaceChildren(
    h("span", { class: "share-bar", "aria-hidden": "true" }, trusted ? part("solid", trusted) : null, doubtful ? part("hatched", doubtful) : null),
    words("solid", trusted, word, 1, mean_confidence, accuracy_trusted),
    words("hatched", doubtful, "doubtful", 0, mean_confidence_doubtful, accuracy_doubtful),
  );
}
