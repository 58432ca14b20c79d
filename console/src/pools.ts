// Reading pools: a project may have a hundred thousand, so that nothing here asks for all of them.
import { api, ask, pagesOf, Refused, type Allocation, type Pool } from "./api";
import { compareBlocks, contains, parseBlock } from "./net/cidr";

export const enough = 2000; // pools that are read at once; a project with no more is known as a whole

const query = (cursor: string | undefined, limit: number) => ({ limit, ...(cursor ? { cursor } : {}) });

/** The first pools of a project in order of name; with no cursor in the answer, all. */
export const firstPools = (project: string, cursor?: string) => pagesOf<Pool>(
  (next) => ask(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query: query(next, 500) } })), enough, cursor,
);

export const getPool = (project: string, pool: string) =>
  ask(api.GET("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool } } }));

/** Child pools in order of address: a page, and where to go on. */
export const childrenOf = (project: string, pool: string, cursor?: string) => pagesOf<Allocation>(
  (next) => ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path: { project }, query: { pool, purpose: "ChildPool", ...query(next, 500) } },
  })), 200, cursor,
);

/** Runs at most some at once, and answers what came of each in order. */
export async function each<T, R>(items: T[], work: (item: T, index: number) => Promise<R>, atOnce = 6): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const i = next++;
      results[i] = await work(items[i]!, i);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

export interface Node {
  name: string;
  cidr: string;
  parent?: string | undefined;
  pool?: Pool | undefined;
}

export const nodeOf = (pool: Pool): Node => ({
  name: pool.metadata.name, cidr: pool.status.allocatedCIDR, parent: pool.status.parentRef?.name, pool,
});

/** The space of an outermost pool, as it is written for its project. */
export const spaceOf = (node: Node) => {
  const space = node.pool?.status.spaceRef;
  return !space || node.parent ? "" : space.project === node.pool?.metadata.project ? space.name : `${space.project}/${space.name}`;
};

export const byAddress = (a: Node, b: Node) => spaceOf(a).localeCompare(spaceOf(b)) || compareBlocks(parseBlock(a.cidr), parseBlock(b.cidr));

/** Whether a pool is what somebody looks for: by name, by label, by an address in it or a block around it. */
export function matches(node: Node, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const block = /[.:]/.test(wanted) ? parseBlock(wanted) : undefined;
  const own = parseBlock(node.cidr);
  if (block && own) return contains(own, block) || contains(block, own);
  if (node.name.includes(wanted) || node.cidr.includes(wanted)) return true;
  return Object.entries(node.pool?.metadata.labels ?? {}).some(([k, v]) => `${k}=${v}`.toLowerCase().includes(wanted));
}

/** The outermost pools above some, each asked for once. */
export async function rootsOf(project: string, pools: Pool[]): Promise<Node[]> {
  const known = new Map(pools.map((pool) => [pool.metadata.name, pool]));
  let missing = parentsMissing(known);
  while (missing.length > 0) {
    const found = await each(missing, (name) => getPool(project, name).catch(ignoreGone));
    for (const pool of found) if (pool) known.set(pool.metadata.name, pool);
    const next = parentsMissing(known);
    if (next.length === missing.length && next.every((name, i) => name === missing[i])) break;
    missing = next;
  }
  return [...known.values()].filter((pool) => !pool.status.parentRef).map(nodeOf).sort(byAddress);
}

function parentsMissing(known: Map<string, Pool>): string[] {
  const parents = new Set([...known.values()].flatMap((pool) => pool.status.parentRef?.name ?? []));
  return [...parents].filter((name) => !known.has(name));
}

/** A pool may be deleted while it is asked for. */
export function ignoreGone(cause: unknown): undefined {
  if (cause instanceof Refused && cause.problem.status === 404) return undefined;
  throw cause;
}
