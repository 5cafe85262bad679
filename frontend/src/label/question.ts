// The question: the node's own row, the proposed answer, and why it is proposed.
import { isDark, readable } from "../colours";
import { clip, find, h, name } from "../dom";
import { number, percent, plural } from "../format";
import { post, randomId, type Answer, type Neighbour, type Question } from "./api";
import { announce, askNext, attempt, banner, classIndex, notify, on, page, proposed, refresh, setQuestion, setState, show, toldProposal } from "./store";

const LINK = /^https?:\/\/[^\s<>"]+$/;
const SLOW = 150; // milliseconds after which the page says that it saves
let busy = false;
let pending: { key: string; id: string } | null = null; // a request that may have to be repeated

export function startQuestion(): void {
  on(["question", "state", "theme"], draw);
}

export const classLabel = (label: string, length = 40): HTMLElement => {
  const colour = page.state!.classes[classIndex(label)]?.colour ?? "#999999";
  return h("span", { class: "class-label" }, h("span", { class: "swatch", "--colour": readable(colour) }), breakable(name(label, length)));
};

/** A long name breaks after an underscore, a hyphen or a slash rather than within a word. */
function breakable(shown: HTMLElement): HTMLElement {
  const parts = shown.textContent!.split(/(?<=[_/-])/);
  shown.replaceChildren(...parts.flatMap((part, at) => (at ? [h("wbr"), part] : [part])));
  return shown;
}

/** Accept the proposed class. */
export function accept(): void {
  const label = proposed();
  if (label === null) return;
  if (performance.now() > page.settled) answer(label);
  else announce("The proposal has just changed. Press Enter again to accept it.");
}

/** Send an event; the page shows it as done only after the server has it on disk. Keys are not heard meanwhile. */
export async function send(kind: string, given: Record<string, string>, done: string): Promise<void> {
  if (busy) return;
  busy = true;
  let finish = (): void => undefined;
  page.saving = new Promise<void>((resolve) => (finish = resolve));
  const started = performance.now();
  const told = setTimeout(() => void (find("saving").hidden = false), SLOW); // sooner it would cost a frame of its own
  const key = JSON.stringify([kind, given]);
  if (pending?.key !== key) pending = { key, id: randomId() };
  try {
    const answer = await post<Answer>("event", { kind, id: pending.id, mode: page.mode, ...given });
    pending = null;
    banner("");
    ring(given);
    setState(answer.state);
    setQuestion(answer.question);
    announce(`${done} ${page.question ? `Next: ${clip(page.question.title, 60)}. ${toldProposal()}` : "Nothing is left to ask."}`);
    requestAnimationFrame(() => setTimeout(() => performance.measure(`saved ${answer.state.labels}`, { start: started })));
    page.started = started;
  } catch (error) {
    banner(`Not saved. ${(error as Error).message} Press the key again to repeat.`);
    void refresh().catch(() => undefined);
  } finally {
    busy = false;
    clearTimeout(told);
    find("saving").hidden = true;
    finish();
  }
}

/** Show a new label on the map before the next picture has it. */
function ring({ node, label }: Record<string, string>): void {
  const at = page.map?.ids.indexOf(node ?? "") ?? -1;
  if (at >= 0 && label) page.picture?.labels.push([at, classIndex(label)]);
}

/** Give the asked node a class: a label, or the true class of a check. */
export function answer(label: string): void {
  const question = page.question;
  if (!question || !find("question").querySelector(".choices")) return;
  const about = { node: question.node, label };
  if (question.kind === "audit") void send("check", { target: question.audit!, ...about }, label ? `Checked: ${label}.` : "Cannot be told.");
  else void send("label", about, `Labelled ${label}.`);
}

export function skip(): void {
  if (page.question?.kind === "audit") answer("");
  else if (page.question?.kind === "node") attempt(askNext());
  else if (page.question) void send("skip", { node: page.question.node }, "Skipped.");
}

export function undo(): void {
  if (page.state?.undo) void send("undo", { target: page.state.undo }, "Undone.");
  else banner("There is nothing of yours to undo.");
}

let drawn = "";

/** Redraws only what changed, so that the focus stays where it is. */
function draw(): void {
  const { state, question } = page;
  const shown = JSON.stringify([question && { ...question, picture: 0 }, page.asked, page.mode, page.beyond, state?.ready, state?.classes.map(({ name }) => name), Boolean(state?.undo), state?.audit, isDark()]);
  if (shown === drawn) return;
  drawn = shown;
  const part = find("question");
  const hadFocus = part.contains(document.activeElement);
  redraw(part);
  if (hadFocus) focusQuestion();
}

/** A button that is hidden keeps the focus for a moment, and Enter would press it. */
export const focusQuestion = (): void => find("h-question")?.focus({ preventScroll: true });

function redraw(part: HTMLElement): void {
  const { state, question } = page;
  part.setAttribute("aria-busy", String(!state?.ready));
  part.dataset.node = question?.node ?? "";
  if (!state) return;
  if (!state.ready) {
    part.replaceChildren(h("h2", {}, "Preparing the graph"), h("p", { class: "lead" }, "Positions and similarities of the nodes are computed once. The first time on a machine also compiles the kernels, which takes a minute or two."), h("div", { class: "bones", "aria-hidden": "true" }, h("i"), h("i"), h("i")));
    return;
  }
  if (page.mode === "audit" && state.audit?.done && !page.beyond) {
    part.replaceChildren(...checked());
    return;
  }
  if (!question) {
    part.replaceChildren(...(page.asked ? finished() : [h("h2", {}, "Choosing a question …")]));
    return;
  }
  part.replaceChildren(
    h("p", { class: "quiet kind" }, heading(question)),
    h("h2", { tabindex: -1, id: "h-question" }, name(question.title, 140)),
    row(question),
    ...proposal(question),
    choices(question),
    ...why(question),
  );
}

function heading(question: Question): string {
  if (question.kind === "audit") {
    const { checked, waiting, planned } = page.state!.audit!;
    return `Check ${number(checked + waiting + 1)}${checked + waiting < planned ? ` of ${number(planned)}` : ""}: is this answer right?`;
  }
  if (question.kind === "node") return `Node ${clip(question.node, 40)}${question.label ? `, labelled ${clip(question.label, 40)}` : ""}`;
  return `Which class? This node ${question.reason || "is asked for"}.`;
}

function row(question: Question): HTMLElement {
  const cells = question.row.map(([column, value]) =>
    h("div", {}, h("dt", {}, name(column, 40)), h("dd", {}, LINK.test(value) ? h("a", { href: value, target: "_blank", rel: "noopener noreferrer" }, clip(value, 120)) : h("bdi", {}, value))),
  );
  const more = question.more > 0 && h("p", { class: "quiet" }, `${plural(question.more, "more column")}, empty or 0 or not shown.`);
  return h("div", { class: "row", tabindex: 0, role: "region", "aria-label": "The node’s row of the table" }, h("dl", { class: "facts" }, ...cells), more);
}

function proposal(question: Question): HTMLElement[] {
  const label = proposed();
  if (label === null) return [h("p", { class: "quiet" }, page.state!.classes.length ? "Nothing is predicted yet: label nodes of two classes first." : "There are no classes yet: add the first two with N.")];
  const { confidence, verdict } = question.prediction ?? { confidence: null, verdict: "trusted" };
  const trust = question.drawn ? "as drawn, trusted" : `${verdict}: right with a chance of ${percent(confidence!)}`;
  const text = question.drawn ? "Yes, it is right" : "Accept";
  return [
    h(
      "button",
      { type: "button", class: "accept", id: "accept", click: () => answer(label) },
      h("kbd", {}, "Enter"),
      h("span", {}, h("b", {}, `${text}: `), classLabel(label, 60)),
      h("span", { class: "quiet" }, trust),
    ),
  ];
}

/** What is typed for each class: its place, or its name where all names are short numbers, so that 1 is never class 2. */
export function classKeys(): string[] {
  const names = (page.state?.classes ?? []).map((one) => one.name);
  return names.every((name) => /^(0|[1-9][0-9]?)$/.test(name)) ? names : names.map((_, k) => String(k + 1));
}

function choices(question: Question): HTMLElement {
  const keys = classKeys();
  const buttons = page.state!.classes.map((one, k) =>
    h("button", { type: "button", class: "choice", "aria-pressed": String(question.label === one.name), click: () => answer(one.name) }, h("kbd", {}, keys[k]), classLabel(one.name, 30)),
  );
  const last = question.kind === "audit" ? "Cannot be told" : question.kind === "node" ? "Back to the questions" : "Skip";
  const act = (key: string, text: string, click: () => void, disabled = false): HTMLElement => h("button", { type: "button", class: "choice plain", disabled, click }, h("kbd", {}, key), text);
  return h(
    "div",
    {},
    buttons.length > 0 && h("div", { class: "choices", role: "group", "aria-label": "Classes" }, ...buttons),
    h("div", { class: "acts" }, act("S", last, skip), act("U", "Undo", undo, !page.state!.undo), act("N", "New class", newClass)),
  );
}

/** Where a new class is named. */
export function newClass(): void {
  find("new-class").scrollIntoView({ block: "center" });
  find("new-class").focus({ preventScroll: true });
}

function why(question: Question): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (question.answers.length) {
    parts.push(h("h3", {}, "Labels so far"), h("ul", {}, ...question.answers.map(([who, label]) => h("li", {}, name(who, 30), ": ", classLabel(label)))));
  }
  const channels = question.prediction?.channels ?? [];
  if (channels.length) {
    const lines = channels.map(([channel, label, share]) => h("li", {}, h("span", { class: "channel" }, channel), classLabel(label, 30), h("span", { class: "quiet" }, percent(share))));
    parts.push(h("h3", {}, "Prediction of each channel"), h("ul", { class: "channel-predictions" }, ...lines));
  }
  const more = question.degree - question.neighbours.length;
  parts.push(
    h("h3", {}, question.prediction ? "Neighbours that decided" : "Neighbours"),
    question.neighbours.length ? h("ul", { class: "neighbours" }, ...question.neighbours.map(neighbour), more > 0 && h("li", { class: "quiet more" }, `and ${number(more)} more`)) : h("p", { class: "quiet" }, "None: the node has no edges."),
  );
  return parts;
}

function neighbour(near: Neighbour): HTMLElement {
  const label = near.label ?? near.predicted;
  const detail = near.label ? "label" : near.trust !== null ? percent(near.trust) : "";
  return h("li", {}, h("button", { type: "button", class: "node", title: clip(near.title, 200), click: () => attempt(show(near.node)) }, clip(near.title, 60)), label ? classLabel(label, 40) : h("span"), h("span", { class: "quiet detail" }, detail));
}

/** The planned checks are done. */
function checked(): HTMLElement[] {
  const audit = page.state!.audit!;
  const goOn = h("button", { type: "button", click: () => ((page.beyond = true), notify("question")) }, "Check more, for a tighter bound");
  return [
    h("p", { class: "quiet kind" }, `${plural(audit.checked, "check")}, ${plural(audit.errors, "error")}`),
    h("h2", { tabindex: -1, id: "h-question" }, "The planned checks are done"),
    h("p", { class: "verdict-line" }, audit.sentence),
    h("p", { class: "quiet" }, "The bound, its date and its draw are in the report."),
    h("div", { class: "inline" }, h("button", { type: "button", class: "main", click: leaveAudit }, "Back to labelling"), h("a", { href: "/api/export/report.html", download: true }, "Report"), page.question ? goOn : ""),
  ];
}

function finished(): HTMLElement[] {
  if (page.mode === "audit") {
    const { audit } = page.state!;
    const isAll = audit?.checked === audit?.population;
    const text = isAll ? audit?.sentence : `The rest is being checked by others. ${audit?.sentence ?? ""}`;
    return [h("h2", {}, isAll ? "All trusted answers are checked" : "Nothing is left to check for you"), h("p", { class: "lead" }, text), h("button", { type: "button", click: leaveAudit }, "Back to labelling")];
  }
  const { labels, graph } = page.state!;
  if (labels === graph.nodes) return [h("h2", {}, "Every node is labelled"), h("p", { class: "lead" }, `All ${number(labels)} labels can be downloaded below.`)];
  return [
    h("h2", {}, "No question is left"),
    h("p", { class: "lead" }, `${plural(labels, "label")} so far. Every other node is skipped, disputed or asked of somebody else. Check the answers, or download them below.`),
    h("div", { class: "inline" }, h("button", { type: "button", click: () => attempt(askNext()) }, "Ask again")),
  ];
}

export function leaveAudit(): void {
  page.mode = "label";
  page.beyond = false;
  notify("state");
  attempt(askNext().then(focusQuestion));
}
