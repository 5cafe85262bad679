// Requests to the server that this page came from, and what it answers.

export interface ClassInfo {
  name: string;
  colour: string;
  labels: number;
}

export interface AuditStatus {
  id: string;
  date: string;
  population: number;
  planned: number;
  confidence: number;
  trusted: string;
  checked: number;
  waiting: number; // checked, and counted once the ones before them in the draw are
  errors: number;
  any_time: number;
  more_checks: Record<string, number | null>;
  done: boolean;
  sentence: string;
}

export interface State {
  server: string; // another one after a restart
  revision: number;
  graph: { name: string; nodes: number; edges: number };
  ready: boolean;
  error: string | null;
  classes: ClassInfo[];
  labels: number;
  people: Record<string, number>;
  refitting: boolean;
  picture: { number: number; labels: number; age: number; seconds: number; word: string; trusted: number | null; share: number | null; accuracy: number | null; warning: string | null } | null;
  curve: [number, number, number][];
  disagreements: { node: string; answers: [string, string][] }[];
  audit: AuditStatus | null;
  undo: string | null;
}

export interface Neighbour {
  node: string;
  title: string;
  label: string | null;
  predicted: string | null;
  trust: number | null;
}

export interface Question {
  kind: "label" | "audit" | "node";
  picture: number; // that the evidence is from
  audit?: string;
  drawn?: string;
  reason: string;
  node: string;
  title: string;
  row: [string, string][];
  more: number;
  answers: [string, string][];
  label: string | null;
  prediction: { label: string; confidence: number; verdict: string; classes: [string, number][]; channels: [string, string, number][] } | null;
  neighbours: Neighbour[];
  degree: number;
}

export interface MapData {
  ids: string[];
  x: number[];
  y: number[];
  edges: number[];
}

export interface Picture {
  number: number;
  prediction: number[] | null;
  confidence: number[] | null;
  trusted: number[] | null;
  labels: [number, number][];
}

export interface Answer {
  event?: string;
  state: State;
  question: Question | null;
}

/** A random id: of this tab, or of an event, so that a repeated request is written once. */
export const randomId = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Of this tab, also after a reload. A duplicated tab starts with a copy of the id, which the first tab has locked. */
export let client = sessionStorage.getItem("client") ?? randomId();
export async function startClient(): Promise<void> {
  if (!(await lock(client))) void lock((client = randomId()));
  sessionStorage.setItem("client", client);
}

/** Keep a name for as long as this tab is open; false if another tab has it. */
const lock = (id: string): Promise<boolean> =>
  new Promise((resolve) => {
    if (!navigator.locks) resolve(true); // only in a secure context, such as this machine
    else void navigator.locks.request(id, { ifAvailable: true }, (held) => (resolve(held !== null), held && new Promise(() => undefined)));
  });

export const person = (): string => localStorage.getItem("name") ?? "";

async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as T;
  let message = text;
  try {
    message = (JSON.parse(text) as { error: string }).error;
  } catch {
    // not JSON: the sentence itself
  }
  throw new Error(message || `The server answered ${response.status}.`);
}

async function reach(path: string, init?: RequestInit): Promise<Response> {
  try {
    return await fetch(path, init);
  } catch {
    throw new Error("The server cannot be reached. It may have been stopped; nothing that was saved is lost.");
  }
}

export async function get<T>(path: string, query: Record<string, string> = {}): Promise<T> {
  return read<T>(await reach(`/api/${path}?${new URLSearchParams({ who: person(), client, ...query })}`));
}

/** A file that the server makes. */
export async function file(address: string): Promise<Blob> {
  const response = await reach(address);
  return response.ok ? response.blob() : read<Blob>(response);
}

export async function post<T>(path: string, body: Record<string, string>): Promise<T> {
  const headers = { "content-type": "application/json" };
  return read<T>(await reach(`/api/${path}`, { method: "POST", headers, body: JSON.stringify({ who: person(), client, ...body }) }));
}
