// The one way to the server: typed by the contract, with the header that a session needs, and with problems as errors.
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

/** What the console reads of a problem document. */
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

/** The server said no. */
export class Refused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

export const isGone = (cause: unknown) => cause instanceof Refused && cause.problem.status === 404;

/** The server did not answer. */
export class Lost extends Error {}

/** A file or an input that the console itself refuses. */
export class Unfit extends Error {
  constructor(readonly title: string, detail: string) {
    super(detail);
  }
}

/** How the last requests went, for the line at the top of the page. */
export const network = signal<"fine" | "slow" | "lost">("fine");
/** Set when the server no longer knows who this is. */
export const signedOut = signal(false);

const slowAfter = 2500;
const pending = new Set<symbol>();
const late = new Set<symbol>();

function judge(lost = false) {
  network.value = lost ? "lost" : late.size > 0 ? "slow" : "fine";
}

/** Fetches with the session's header and notes how the network does. Requests that wait on purpose say so. */
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
    throw new Lost("The server did not answer.", { cause });
  }
}

function settle(id: symbol, timer: ReturnType<typeof setTimeout> | undefined, lost = false) {
  clearTimeout(timer);
  pending.delete(id);
  late.delete(id);
  judge(lost);
}

export const api = createClient<paths>({ baseUrl: location.origin, fetch: (request) => send(request) });

/** The data of an answer; a problem is thrown. */
export async function ask<T>(answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok) return data as T;
  throw new Refused(asProblem(error, response));
}

/** The same for paths that the contract does not have. */
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
    title: response.statusText || "No answer",
    status: response.status,
    detail: `The server answered ${response.status} and did not say why. Something between this page and the server may have answered in its place.`,
    code: "",
  };
}

/** If-Match for what is on the screen. */
export const asSeen = (of: { metadata: { revision: string } }) => ({ "If-Match": `"${of.metadata.revision}"` });

/** A text that nobody else makes. Browsers have crypto.randomUUID only on pages that came by HTTPS or from this machine. */
export const unique = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Reads pages of a list until there are enough items, or no more, or enough pages: a page may be empty. The cursor of the answer says that there may be more. */
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
