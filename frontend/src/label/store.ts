// The page's state. Each part listens and redraws itself.
import { get, type MapData, type Picture, type Question, type State } from "./api";
import { find } from "../dom";

type Part = "state" | "question" | "picture" | "theme" | "map";

interface Page {
  state: State | null;
  question: Question | null;
  asked: boolean; // whether a question was asked for; without one there is nothing left
  mode: "label" | "audit";
  map: MapData | null;
  started?: number; // when the key of the last label was pressed
  picture: Picture | null;
}

export const page: Page = { state: null, question: null, asked: false, mode: "label", map: null, picture: null };

const listeners: [Part[], () => void][] = [];
export const on = (parts: Part[], draw: () => void): void => void listeners.push([parts, draw]);
export const notify = (part: Part): void => {
  for (const [parts, draw] of listeners) if (parts.includes(part)) draw();
};

/** Speak to a screen reader. */
export const announce = (text: string): void => void (find("live").textContent = text);

/** A message above the page; an empty one removes it. */
export function banner(text: string): void {
  find("banner").hidden = !text;
  find("banner-text").textContent = text;
}

/** Do it; if it fails, say why above the page. */
export const attempt = (work: Promise<unknown>): void => void work.catch((error: Error) => banner(error.message));

export function setState(state: State): void {
  if (page.state && state.revision < page.state.revision) return; // an answer that was overtaken
  page.state = state;
  notify("state");
}

export function setQuestion(question: Question | null): void {
  page.question = question;
  page.asked = true;
  notify("question");
}

export const classIndex = (name: string): number => page.state!.classes.findIndex((one) => one.name === name);

/** Fetch what changed. */
export async function refresh(): Promise<void> {
  const state = await get<State>("state");
  if (!page.map) {
    page.map = await get<MapData | null>("map");
    if (page.map) notify("map");
  }
  const before = page.state;
  setState(state);
  const isNew = !before || before.labels !== state.labels || before.picture?.number !== state.picture?.number || before.classes.length !== state.classes.length;
  if (state.picture && (isNew || !page.picture)) {
    page.picture = await get<Picture | null>("picture");
    notify("picture");
  }
  const waits = page.question === null && state.ready && !page.asked;
  const cameToLife = page.question?.kind === "label" && page.question.prediction === null && state.picture?.share != null;
  if (waits || cameToLife) await askNext();
}

export async function askNext(): Promise<void> {
  setQuestion(await get<Question | null>("question", { mode: page.mode }));
}
