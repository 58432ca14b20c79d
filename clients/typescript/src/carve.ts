import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod } from "openapi-typescript-helpers";

import { calling } from "./call.js";
import type { CarveOptions } from "./options.js";
import { pages, type Item, type ListInit, type ListPath } from "./pages.js";
import type { components, paths } from "./schema.js";
import { watch, type Watched, type WatchEvent, type WatchInit } from "./watch.js";

/** What an operation answers when it succeeds: its body, and the response for its headers. */
export interface Answer<Body> {
  readonly data: Body;
  readonly response: Response;
}

type Body<Response> = Response extends { data: infer Data; error?: never } ? Data : never;

type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Method & keyof paths[Path]>;

/** A method of HTTP over the paths of the contract that have it. It throws a CarveError when there is no answer to use. */
export type Call<Method extends HttpMethod> = <Path extends PathsWithMethod<paths, Method>>(
  path: Path,
  ...init: undefined extends Init<Path, Method> ? [init?: Init<Path, Method>] : [init: Init<Path, Method>]
) => Promise<Answer<Body<FetchResponse<paths[Path][Method] & Record<string | number, unknown>, object, MediaType>>>>;

/** A client of one server. Make one and keep it. */
export interface Carve {
  readonly GET: Call<"get">;
  readonly POST: Call<"post">;
  readonly PUT: Call<"put">;
  readonly PATCH: Call<"patch">;
  readonly DELETE: Call<"delete">;
  /** Goes through a list item by item; the next page is fetched when the last item of the one before was taken. */
  items<Path extends ListPath>(path: Path, ...init: ListInit<Path>): AsyncGenerator<Item<Path>, void, undefined>;
  /**
   * Tells what there is of a kind, and then what changes, until its signal ends it: through lost connections, servers that are replaced and cursors
   * that are too old. A refusal that stays is thrown.
   */
  watch<Kind extends keyof Watched>(kind: Kind, init: WatchInit): AsyncGenerator<WatchEvent<Watched[Kind]>, void, undefined>;
  /**
   * Asks for a block under a name, and answers the block as a CIDR. Asked again with the same name and spec, by this program
   * or after it was started anew, it answers the same block: the name is the key.
   */
  claim(project: string, name: string, spec: components["schemas"]["IPClaimSpec"]): Promise<string>;
  /**
   * Deletes a claim. It reads the claim first and deletes that very one, so that it can be repeated safely: never is a claim
   * deleted that somebody made under the name meanwhile.
   */
  release(project: string, name: string): Promise<void>;
}

/** Makes a client for a server. It connects to nothing yet. */
export function createCarve(options: CarveOptions): Carve {
  const api = createClient<paths>(calling(options));
  const carve: Carve = {
    // What api answers without an error is what Call says: the fetch under it throws everything else.
    GET: api.GET as Carve["GET"],
    POST: api.POST as Carve["POST"],
    PUT: api.PUT as Carve["PUT"],
    PATCH: api.PATCH as Carve["PATCH"],
    DELETE: api.DELETE as Carve["DELETE"],
    items: (path, ...init) => pages(api, path, init[0]),
    watch: (kind, init) => watch(api, kind, init),
    claim: async (project, name, spec) => {
      const path = { project, claim: name };
      const { data } = await carve.PUT("/v1/projects/{project}/claims/{claim}", { params: { path }, body: { spec } });
      return data.status.allocatedCIDR;
    },
    release: async (project, name) => {
      const path = { project, claim: name };
      const { response } = await carve.GET("/v1/projects/{project}/claims/{claim}", { params: { path } });
      const header = { "If-Match": response.headers.get("ETag") ?? "" };
      await carve.DELETE("/v1/projects/{project}/claims/{claim}", { params: { path, header } });
    },
  };
  return carve;
}
