import createClient, { type FetchResponse, type MaybeOptionalInit } from "openapi-fetch";
import type { HttpMethod, MediaType, PathsWithMethod } from "openapi-typescript-helpers";

import { calling } from "./call.js";
import type { CarveOptions } from "./options.js";
import { pages, type Item, type ListInit, type ListPath } from "./pages.js";
import type { components, paths } from "./schema.js";
import { watch, type Watched, type WatchEvent, type WatchInit } from "./watch.js";

/** The result of a successful operation: its body, and the response for its headers. */
export interface Answer<Body> {
  readonly data: Body;
  readonly response: Response;
}

type Body<Response> = Response extends { data: infer Data; error?: never } ? Data : never;

type Init<Path extends keyof paths, Method extends HttpMethod> = MaybeOptionalInit<paths[Path], Method & keyof paths[Path]>;

/** An HTTP method on the paths of the contract that have it. It throws a CarveError if the call does not succeed. */
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
  /** Yields the items of a list. It fetches the next page after the loop has taken the last item of the page before. */
  items<Path extends ListPath>(path: Path, ...init: ListInit<Path>): AsyncGenerator<Item<Path>, void, undefined>;
  /**
   * Yields the objects of a kind and then their changes until its signal aborts. It survives lost connections, replaced servers and cursors that are
   * too old. It throws a permanent refusal.
   */
  watch<Kind extends keyof Watched>(kind: Kind, init: WatchInit): AsyncGenerator<WatchEvent<Watched[Kind]>, void, undefined>;
  /**
   * Requests a block under a name and returns it as a CIDR. The name is the key: a later call with the same name and spec returns the same block,
   * even from a restarted program.
   */
  claim(project: string, name: string, spec: components["schemas"]["IPClaimSpec"]): Promise<string>;
  /**
   * Deletes a claim. It reads the claim first and deletes only that revision, so that a retry is safe: it never deletes a claim that another client
   * has created under the name since.
   */
  release(project: string, name: string): Promise<void>;
}

/** Makes a client for a server. It does not connect yet. */
export function createCarve(options: CarveOptions): Carve {
  const api = createClient<paths>(calling(options));
  const carve: Carve = {
    // The results of api without an error have the type of Call: the fetch below it throws in all other cases.
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
