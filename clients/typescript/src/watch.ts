import type { Client } from "openapi-fetch";

import { CarveError, CarveProblem, isProblem } from "./errors.js";
import { wait } from "./retry.js";
import type { components, paths } from "./schema.js";

type Schemas = components["schemas"];

/** The kinds that can be watched, with their types. */
export interface Watched {
  IPPool: Schemas["IPPool"];
  IPClaim: Schemas["IPClaim"];
  IPClass: Schemas["IPClass"];
  IPAllocation: Schemas["IPAllocation"];
  Quota: Schemas["Quota"];
}

/** One event of a watch. The name of an allocation is its UID. */
export type WatchEvent<T> =
  /** The object was created or changed; the event has its new state. */
  | { readonly type: "Put"; readonly name: string; readonly object: T }
  /** No object has the name any more, or it no longer matches the watch. */
  | { readonly type: "Delete"; readonly name: string }
  /** The events so far cover the whole list. */
  | { readonly type: "Synced" };

/** The parameters of a watch. */
export interface WatchInit {
  readonly project: string;
  /** Limits the watch to matching objects. Pools, claims and classes have labels. */
  readonly labelSelector?: string;
  /** Ends the watch without an error. */
  readonly signal?: AbortSignal;
  /** Is called with each temporary error: a lost connection, a busy server. The watch continues where it was, with growing pauses of at most 30 s. */
  readonly onError?: (error: CarveError) => void;
  /**
   * How many seconds the server holds a request while nothing changes, up to 60. It must be shorter than the timeout of an attempt. The default is
   * 10.
   */
  readonly waitSeconds?: number;
}

const lists = {
  IPPool: "/v1/projects/{project}/pools",
  IPClaim: "/v1/projects/{project}/claims",
  IPClass: "/v1/projects/{project}/classes",
  IPAllocation: "/v1/projects/{project}/allocations",
  Quota: "/v1/projects/{project}/quotas",
} as const satisfies Record<keyof Watched, keyof paths>;

interface Page<T> {
  readonly items: T[];
  readonly nextCursor?: string;
  readonly changesCursor?: string;
}

interface Named {
  readonly metadata: { readonly name?: string; readonly uid: string };
}

const firstPause = 250;
const longestPause = 30_000;

/**
 * Yields a Put for each existing object, then Synced, and then the changes. It may yield an object again without a change and may skip intermediate
 * states; the last event of an object is its current state. It throws a permanent refusal.
 */
export async function* watch<Kind extends keyof Watched>(
  api: Client<paths>,
  kind: Kind,
  init: WatchInit,
): AsyncGenerator<WatchEvent<Watched[Kind]>, void, undefined> {
  const known = new Set<string>();
  const signal = init.signal ?? new AbortController().signal;
  let after: string | undefined;
  for (let failed = 0; !signal.aborted; ) {
    try {
      after ??= yield* list<Watched[Kind]>(api, kind, init, known);
      for (;;) {
        const query: object = { after, resourceKind: [kind], waitSeconds: init.waitSeconds ?? 10 };
        const changes: Schemas["ChangeList"] = await ask(api, "/v1/projects/{project}/changes", init, query);
        failed = 0;
        for (const { type, name, object } of changes.items) {
          if (type === "Put") {
            known.add(name);
            yield { type, name, object: object as unknown as Watched[Kind] };
          } else if (known.delete(name)) {
            yield { type, name };
          }
        }
        after = changes.cursor;
      }
    } catch (thrown) {
      if (signal.aborted) return;
      if (isProblem(thrown, "cursor_expired")) {
        after = undefined;
        continue;
      }
      if (!(thrown instanceof CarveError) || stays(thrown)) throw thrown;
      init.onError?.(thrown);
      const pause = Math.min(longestPause, firstPause * 2 ** failed++);
      await wait(pause / 2 + (Math.random() * pause) / 2, signal).catch(() => undefined);
    }
  }
}

/** Yields a Put for each object of the list and a Delete for each known object that is not in it. Returns the cursor from which to follow. */
async function* list<T extends Named>(
  api: Client<paths>,
  kind: keyof Watched,
  init: WatchInit,
  known: Set<string>,
): AsyncGenerator<WatchEvent<T>, string, undefined> {
  const gone = new Set(known);
  const holder = kind === "IPAllocation" ? { holder: "self" } : {};
  let [after, cursor]: [string | undefined, string | undefined] = [undefined, undefined];
  do {
    const page: Page<T> = await ask(api, lists[kind], init, cursor === undefined ? holder : { ...holder, cursor });
    after ??= page.changesCursor ?? "";
    for (const object of page.items) {
      const name = kind === "IPAllocation" ? object.metadata.uid : (object.metadata.name ?? object.metadata.uid);
      gone.delete(name);
      known.add(name);
      yield { type: "Put", name, object };
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined && cursor !== "");
  for (const name of gone) {
    known.delete(name);
    yield { type: "Delete", name };
  }
  yield { type: "Synced" };
  return after;
}

/** Reads a page or the changes. The parameters of these lists have one shape, which the compiler cannot see in a union of paths. */
async function ask<T>(api: Client<paths>, path: string, { project, labelSelector, signal }: WatchInit, query: object): Promise<T> {
  const get = api.GET as (path: string, init: object) => Promise<{ data: T }>;
  const selected = labelSelector === undefined ? query : { ...query, labelSelector };
  const { data } = await get(path, { params: { path: { project }, query: selected }, ...(signal === undefined ? {} : { signal }) });
  return data;
}

/** Reports whether a retry would get the same refusal. */
function stays(error: CarveError): boolean {
  return error instanceof CarveProblem && error.status < 500 && error.status !== 429 && error.status !== 409;
}
