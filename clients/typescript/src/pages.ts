import type { Client } from "openapi-fetch";

import type { paths } from "./schema.js";

/** A page of any list. */
interface Page {
  items: unknown[];
  nextCursor?: string;
}

/** What a path's GET answers with 200. */
type Listed<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

/** The paths of lists: those whose GET answers items. */
export type ListPath = { [Path in keyof paths]: Listed<Path> extends { items: unknown[] } ? Path : never }[keyof paths];

/** What the list at a path holds. */
export type Item<Path extends ListPath> = Listed<Path> extends { items: (infer T)[] } ? T : never;

type Parameters<Path extends ListPath> = paths[Path] extends { get: { parameters: infer P } } ? P : never;

type Wanted<Path extends ListPath> = { params: Pick<Parameters<Path>, keyof Parameters<Path> & ("path" | "query")>; signal?: AbortSignal };

/** What a list is asked with. It may be left out where the path and the filters have nothing that must be said. */
export type ListInit<Path extends ListPath> = Record<never, never> extends Wanted<Path>["params"]
  ? [init?: Partial<Wanted<Path>>]
  : [init: Wanted<Path>];

/** Goes through a list. A page holds as many items as `query.limit` says; without it, as many as the server likes. */
export async function* pages<Path extends ListPath>(
  api: Client<paths>,
  path: Path,
  init: Partial<Wanted<Path>> | undefined,
): AsyncGenerator<Item<Path>, void, undefined> {
  // The parameters of all lists are of one shape, which the compiler cannot see in a union of paths.
  const get = api.GET as (path: string, init: object) => Promise<{ data: Page }>;
  const params = (init?.params ?? {}) as { path?: object; query?: { cursor?: string } };
  let cursor = params.query?.cursor;
  for (;;) {
    const query = cursor === undefined ? params.query : { ...params.query, cursor };
    const { data } = await get(path, { ...init, params: { ...params, query } });
    yield* data.items as Item<Path>[];
    if (data.nextCursor === undefined || data.nextCursor === "") return;
    if (data.nextCursor === cursor) throw new Error("carve: the server's next page is the same again");
    cursor = data.nextCursor;
  }
}
