// The page's state. Each part listens and redraws itself.
import { get, type MapData, type Picture, type Question, type State } from "./api";
import { clip, find } from "../dom";

type Part = "state" | "question" | "picture" | "theme" | "map";

interface Page {
  state: State | null;
  question: Question | null;
  asked: boolean; // whether a question was asked for; without one there is nothing left
  mode: "label" | "audit";
  map: MapData | null;
  started?: number; // when the key of the last label was pressed
  picture: Picture | null;
  saving: Promise<unknown>; // the event that is being saved; what is fetched meanwhile is shown after it
  beyond: boolean; // whether checks go on after the planned ones
  settled: number; // when a proposal that replaced another before one's eyes may be accepted by Enter
}

export const page: Page = { state: null, question: null, asked: false, mode: "label", map: null, picture: null, saving: Promise.resolve(), beyond: false, settled: 0 };

const listeners: [Part[], () => void][] = [];
export const on = (parts: Part[], draw: () => void): void => void listeners.push([parts, draw]);

/** Redraw a part; while a button is held down, after it is let go: a button that is replaced would not be clicked. */
export const notify = (part: Part): void => {
  if (held) waiting.add(part);
  else for (const [parts, draw] of listeners) if (parts.includes(part)) draw();
};

let held = false;
const waiting = new Set<Part>();
addEventListener("pointerdown", (event) => void (held = event.button === 0), true); // the menu of another button may keep its release
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(
    end,
    () =>
      setTimeout(() => {
        held = false;
        const parts = [...waiting];
        waiting.clear();
        parts.forEach(notify);
      }),
    true,
  );
}

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
  if (page.state && state.server !== page.state.server) location.reload(); // it was restarted, perhaps with another graph
  if (page.state && state.revision < page.state.revision) return; // an answer that was overtaken
  page.state = state;
  notify("state");
}

let turn = 0; // of questions: an answer that was overtaken is dropped

export function setQuestion(question: Question | null): void {
  turn += 1;
  // only the proposal that changed has to settle: Enter for another question is heard at once
  if (question?.node !== page.question?.node || question?.kind !== page.question?.kind) page.settled = 0;
  page.question = question;
  page.asked = true;
  notify("question");
}

export const classIndex = (name: string): number => page.state!.classes.findIndex((one) => one.name === name);

let painted = ""; // names of the classes that the picture was fetched with

/** Fetch what changed. */
export async function refresh(): Promise<void> {
  const state = await get<State>("state");
  if (!page.map) {
    page.map = await get<MapData | null>("map");
    if (page.map) notify("map");
  }
  await page.saving;
  setState(state);
  const { picture, question } = page;
  const names = state.classes.map((one) => one.name).join("\n");
  if (state.picture && (picture?.number !== state.picture.number || painted !== names)) {
    page.picture = await get<Picture | null>("picture");
    painted = names;
    notify("picture");
  }
  await Promise.allSettled([page.saving, asking]);
  if (!state.ready || page.question !== question) return; // another one was asked meanwhile
  const isOld = question && question.picture < state.picture!.number; // the evidence of an earlier picture
  const [node, before] = [question?.node, proposed()];
  if (!page.asked || (isOld && question.kind !== "node")) await askNext();
  else if (isOld) await show(question.node);
  if (before === null || page.question?.node !== node || before === proposed()) return;
  page.settled = performance.now() + SETTLE;
  announce(`The proposal has changed. ${toldProposal()}`);
}

const SETTLE = 400; // milliseconds

/** The class that Enter accepts. */
export const proposed = (): string | null => page.question?.drawn ?? page.question?.prediction?.label ?? null;

/** What Enter accepts, for a screen reader. */
export const toldProposal = (): string => (proposed() === null ? "" : `Enter accepts ${clip(proposed()!, 60)}.`);

export const askNext = (): Promise<void> => ask(get<Question | null>("question", { mode: page.mode }));

/** Show any node in place of the question. */
export const show = (node: string): Promise<void> => ask(get<Question>("node", { id: node }));

let asking: Promise<unknown> = Promise.resolve(); // the question that a person wants to see comes before a refreshed one

async function ask(request: Promise<Question | null>): Promise<void> {
  const mine = (turn += 1);
  asking = request;
  const question = await request;
  await page.saving; // its answer brings the next question; shown before that, the next one would not hear keys
  if (mine === turn) setQuestion(question);
}
