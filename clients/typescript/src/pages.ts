import type { Client } from "openapi-fetch";

import type { paths } from "./schema.js";

/** A page of any list. */
interface Page {
  items: unknown[];
  nextCursor?: string;
}

/** The body of a path's GET with status 200. */
type Listed<Path extends keyof paths> = paths[Path] extends {
  get: { responses: { 200: { content: { "application/json": infer Body } } } };
}
  ? Body
  : never;

/** The paths of lists: their GET returns items. */
export type ListPath = { [Path in keyof paths]: Listed<Path> extends { items: unknown[] } ? Path : never }[keyof paths];

/** The type of the items in the list at a path. */
export type Item<Path extends ListPath> = Listed<Path> extends { items: (infer T)[] } ? T : never;

type Parameters<Path extends ListPath> = paths[Path] extends { get: { parameters: infer P } } ? P : never;

type Wanted<Path extends ListPath> = { params: Pick<Parameters<Path>, keyof Parameters<Path> & ("path" | "query")>; signal?: AbortSignal };

/** The parameters of a list. They are optional where the path and the filters need none. */
export type ListInit<Path extends ListPath> = Record<never, never> extends Wanted<Path>["params"]
  ? [init?: Partial<Wanted<Path>>]
  : [init: Wanted<Path>];

/** Yields the items of a list. `query.limit` is the page size; without it the server chooses. */
export async function* pages<Path extends ListPath>(
  api: Client<paths>,
  path: Path,
  init: Partial<Wanted<Path>> | undefined,
): AsyncGenerator<Item<Path>, void, undefined> {
  // The parameters of all lists have one shape, which the compiler cannot see in a union of paths.
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
