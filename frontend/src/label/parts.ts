// Classes, disagreements, the audit and the downloads.
import { find, h, name } from "../dom";
import { number, percent, plural } from "../format";
import { file, post, randomId, type Answer } from "./api";
import { classLabel, focusQuestion, leaveAudit, send } from "./question";
import { askNext, attempt, banner, on, page, setQuestion, setState, show } from "./store";

export function startParts(): void {
  on(["state", "theme"], () => {
    if (!page.state) return;
    drawClasses();
    drawDisagreements();
    drawAudit();
  });
  find("add-class").addEventListener("submit", (event) => {
    event.preventDefault();
    const box = find("new-class") as HTMLInputElement;
    if (box.value.trim()) void send("class", { label: box.value }, "Class added.").then(() => (box.value = ""));
  });
  find("new-class").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    find("new-class").blur(); // the keys are for the question again
    find("question").scrollIntoView({ block: "nearest" });
  });
  find("rename-form").addEventListener("submit", () => {
    const [target, label] = [(find("rename") as HTMLDialogElement).dataset.target!, (find("rename-to") as HTMLInputElement).value];
    if (label.trim()) void send("rename", { target, label }, "Class renamed.");
  });
  find("rename-to").addEventListener("input", tellMerge);
  find("rename-cancel").addEventListener("click", () => (find("rename") as HTMLDialogElement).close());
  find("start-audit").addEventListener("click", () => void startAudit());
  find("leave-audit").addEventListener("click", leaveAudit);
  document.addEventListener("click", (event) => {
    const link = (event.target as HTMLElement).closest<HTMLAnchorElement>("a[download][href^='/api/']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (link.ariaBusy !== "true") attempt(download(link));
  });
}

/** Fetch a file, then save it: an answer that is none is a sentence, which a browser would hide. */
async function download(link: HTMLAnchorElement): Promise<void> {
  link.ariaBusy = "true";
  try {
    const address = URL.createObjectURL(await file(link.href));
    h("a", { href: address, download: link.href.slice(link.href.lastIndexOf("/") + 1) }).click();
    setTimeout(() => URL.revokeObjectURL(address), KEPT);
    banner("");
  } finally {
    link.ariaBusy = "false";
  }
}

const KEPT = 60_000; // milliseconds for which a browser may still read a fetched file

function tellMerge(): void {
  const value = (find("rename-to") as HTMLInputElement).value.trim();
  const merges = page.state!.classes.some((one) => one.name === value) && value !== (find("rename") as HTMLDialogElement).dataset.target;
  find("rename-done").textContent = merges ? "Merge" : "Rename";
  find("rename-note").textContent = merges ? `There is a class ${value}: the two will be merged.` : "The name of another class merges the two.";
}

function rename(target: string): void {
  const dialog = find("rename") as HTMLDialogElement;
  dialog.dataset.target = target;
  (find("rename-to") as HTMLInputElement).value = target;
  tellMerge();
  dialog.showModal();
  (find("rename-to") as HTMLInputElement).select();
}

/** Replace the lines of a list; the button that has the focus keeps it. */
function replaceLines(list: HTMLElement, lines: HTMLElement[]): void {
  const held = list.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.key : undefined;
  list.replaceChildren(...lines);
  if (held !== undefined) [...list.querySelectorAll<HTMLElement>("[data-key]")].find((one) => one.dataset.key === held)?.focus();
}

function drawClasses(): void {
  const lines = page.state!.classes.map((one) =>
    h("li", {}, classLabel(one.name, 40), h("span", { class: "quiet" }, plural(one.labels, "label")), h("button", { type: "button", class: "plain", "data-key": one.name, "aria-label": `Rename or merge ${one.name}`, click: () => rename(one.name) }, "Rename")),
  );
  replaceLines(find("class-list"), lines.length ? lines : [h("li", { class: "quiet" }, "No classes yet: add the first two below.")]);
}

function drawDisagreements(): void {
  const found = page.state!.disagreements;
  find("disagreements").hidden = found.length === 0;
  replaceLines(
    find("disagreement-list"),
    found.map(({ node, answers }) =>
      h(
        "li",
        {},
        h("button", { type: "button", class: "node", "data-key": node, click: () => attempt(show(node)) }, name(node, 30)),
        ...[...new Map(answers.map(([who, label]) => [label, who]))].map(([label]) => {
          const who = answers.filter((one) => one[1] === label).map((one) => one[0]);
          return h("button", { type: "button", "data-key": `${node}\n${label}`, click: () => void send("decide", { node, label }, "Decided.") }, classLabel(label, 30), h("span", { class: "quiet" }, ` ${who.join(", ")}`));
        }),
      ),
    ),
  );
}

async function startAudit(): Promise<void> {
  const bound = (find("bound") as HTMLSelectElement).value;
  try {
    page.mode = "audit";
    page.beyond = false;
    if (!page.state!.audit || page.state!.audit.done) {
      const answer = await post<Answer>("audit", { bound, id: randomId() });
      setState(answer.state);
      setQuestion(answer.question);
    } else {
      await askNext();
    }
    find("question").scrollIntoView({ block: "start" });
    focusQuestion();
    banner("");
  } catch (error) {
    page.mode = "label";
    banner((error as Error).message);
  }
  drawAudit();
}

function drawAudit(): void {
  const { audit } = page.state!;
  const inside = page.mode === "audit";
  find("leave-audit").hidden = !inside;
  const open = audit !== null && !audit.done;
  find("bound-part").hidden = open || inside;
  find("start-audit").hidden = inside;
  const { picture } = page.state!;
  const reason = open || picture?.trusted ? "" : !picture || picture.trusted === null ? "Nothing is predicted yet: label nodes of two classes first." : `No answer is trusted yet. ${picture.warning ?? "Label more nodes first."}`;
  (find("start-audit") as HTMLButtonElement).disabled = reason !== "";
  find("start-audit").textContent = open ? `Go on checking: ${number(audit.planned - audit.checked)} left` : audit ? "Draw again" : "Check the answers";
  find("audit-note").textContent = reason;
  if (!audit) {
    find("audit-state").replaceChildren(...(reason ? [] : [h("p", { class: "quiet" }, "Nothing was checked yet.")]));
    return;
  }
  const wishes = Object.entries(audit.more_checks).flatMap(([wish, more]) => (more === null ? [] : [`${percent(Number(wish))}: ${more === 0 ? "reached" : `${number(more)} more`}`]));
  const waiting = audit.waiting ? ` ${plural(audit.waiting, "more check")} will count once the ones before in the draw are made.` : "";
  find("audit-state").replaceChildren(
    h("p", { id: "audit-sentence" }, audit.sentence || `${number(audit.planned)} of ${number(audit.population)} trusted answers were drawn at random.`),
    h("p", { class: "quiet" }, `${plural(audit.checked, "check")}, ${plural(audit.errors, "error")}.${waiting} Bound that holds at any time: ${percent(audit.any_time, 1)}. Checks without error for a bound of ${wishes.join(", ")}.`),
  );
}
