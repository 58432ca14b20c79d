// The only access to the server: typed by the contract, with the session's header, and with problems as errors.
import { signal } from "@preact/signals";
import createClient from "openapi-fetch";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Pool = Schemas["IPPool"];
export type Claim = Schemas["IPClaim"];
export type Allocation = Schemas["IPAllocation"];
export type Quota = Schemas["Quota"];
export type Step = Schemas["DecisionStep"];
export type Remedy = Schemas["Remedy"];

/** The members of a problem document that the console reads. */
export interface Problem {
  type?: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  traceId?: string;
  errors?: { detail: string; pointer: string }[];
  steps?: Step[];
}

/** The server refused the request. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

export const isGone = (cause: unknown) => cause instanceof Refused && cause.problem.status === 404;

/** The server did not respond. */
export class Lost extends Error {}

/** A file or an input that the console itself refuses. */
export class Unfit extends Error {
  constructor(readonly title: string, detail: string) {
    super(detail);
  }
}

/** The state of the last requests, for the line at the top of the page. */
export const network = signal<"fine" | "slow" | "lost">("fine");
/** Set when the server no longer accepts the session. */
export const signedOut = signal(false);

const slowAfter = 2500;
const pending = new Set<symbol>();
const late = new Set<symbol>();

function judge(lost = false) {
  network.value = lost ? "lost" : late.size > 0 ? "slow" : "fine";
}

/** Fetches with the session's header and updates the network state. A request that waits on purpose sets `waits`. */
export async function send(input: RequestInfo | URL, init: RequestInit & { waits?: boolean } = {}): Promise<Response> {
  const request = new Request(input, { ...init, credentials: "same-origin" });
  request.headers.set("X-Carve-Console", "1");
  if (request.method === "PATCH") request.headers.set("Content-Type", "application/merge-patch+json");
  const id = Symbol();
  pending.add(id);
  const timer = init.waits ? undefined : setTimeout(() => { late.add(id); judge(); }, slowAfter);
  try {
    const response = await fetch(request);
    if (response.status === 401 && !new URL(request.url).pathname.startsWith("/console/")) signedOut.value = true;
    settle(id, timer);
    return response;
  } catch (cause) {
    const cancelled = request.signal.aborted;
    settle(id, timer, !cancelled);
    if (cancelled) throw cause;
    throw new Lost("The server did not respond.", { cause });
  }
}

function settle(id: symbol, timer: ReturnType<typeof setTimeout> | undefined, lost = false) {
  clearTimeout(timer);
  pending.delete(id);
  late.delete(id);
  judge(lost);
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => send(request) });

/** Returns the data of a response; throws a problem. */
export async function ask<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  throw new Refused(asProblem(error, response));
}

/** Does the same as ask for paths that the contract does not have. */
export async function askPath<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await send(location.origin + path, init);
  const text = await response.text();
  let body: unknown;
  try {
    body = text === "" ? undefined : JSON.parse(text);
  } catch {
    body = undefined;
  }
  if (!response.ok) throw new Refused(asProblem(body, response));
  return body as T;
}

function asProblem(body: unknown, response: Response): Problem {
  if (typeof body === "object" && body !== null && "code" in body) return body as Problem;
  return {
    title: response.statusText || "No response",
    status: response.status,
    detail: `The server returned ${response.status} without a reason. A proxy between this page and the server may have responded in its place.`,
    code: "",
  };
}

/**
 * Waits for a change or a deletion. If its response was lost, or an earlier attempt may be the reason for a refusal, it reads whether the object is in
 * the wanted state.
 */
export async function ensure(change: Promise<unknown>, isSo: () => Promise<boolean>): Promise<void> {
  try {
    await change;
  } catch (cause) {
    const decided = cause instanceof Refused && cause.problem.status < 500 && ![404, 412].includes(cause.problem.status);
    if (decided || !(await isSo().catch(() => false))) throw cause;
  }
}

/** Reports whether the object of a read is gone. */
export const goneNow = (read: Promise<unknown>) => read.then(() => false, isGone);

/** Reports whether an object has the wanted values. null means that it has none. */
export const holds = (is: unknown, wanted: unknown): boolean => (typeof wanted === "object" && wanted !== null
  ? Object.entries(wanted).every(([name, value]) => holds((is as Record<string, unknown> | undefined)?.[name], value)) : (is ?? null) === wanted);

/** Returns the If-Match header for the revision on the screen. */
export const asSeen = (of: { metadata: { revision: string } }) => ({ "If-Match": `"${of.metadata.revision}"` });

/** Returns a random text. Browsers have crypto.randomUUID only on pages that came by HTTPS or from this machine. */
export const unique = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Reads pages of a list until it has enough items, the list ends, or it has read enough pages; a page may be empty. A returned cursor means that the
 * list may have more.
 */
export async function pagesOf<T>(
  page: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor?: string }>,
  enough: number, cursor?: string, pages = Infinity,
): Promise<{ items: T[]; cursor?: string }> {
  const items: T[] = [];
  do {
    const answer = await page(cursor);
    items.push(...answer.items);
    cursor = answer.nextCursor;
  } while (cursor && items.length < enough && --pages > 0);
  return cursor ? { items, cursor } : { items };
}
