// Reading pools. A project may have a hundred thousand, so nothing here loads all of them.
import { api, ask, isGone, pagesOf, type Allocation, type Pool } from "./api";
import { compareBlocks, contains, parseBlock, type Block } from "./net/cidr";

const page = 500;

const query = (cursor: string | undefined, limit: number) => ({ limit, ...(cursor ? { cursor } : {}) });

/** Returns the first pools of a project in name order. Without a cursor in the result, these are all. */
export const firstPools = (project: string, enough = page) => pagesOf<Pool>(
  (next) => ask(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query: query(next, page) } })), enough,
);

/** Returns root pools, which were carved from a space and not from a pool: a page or at least as many as asked for, and a cursor for the rest. */
export const rootsOf = (project: string, cursor?: string, atLeast = 1) => pagesOf<Pool>(
  (next) => ask(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query: { roots: true, ...query(next, 200) } } })),
  atLeast, cursor,
);

export const getPool = (project: string, pool: string) =>
  ask(api.GET("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool } } }));

/** Returns child pools in address order: a page or at least as many as asked for, and a cursor for the rest. */
export const childrenOf = (project: string, pool: string, cursor?: string, atLeast = 1, within?: string) => pagesOf<Allocation>(
  (next) => ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path: { project }, query: { pool, purpose: "ChildPool", ...(within ? { within } : {}), ...query(next, page) } },
  })), atLeast, cursor,
);

/**
 * Reports whether pools were carved from this one. Its figures do not show that, because a child pool counts as held. The server examines the first
 * 5,000 blocks; "unknown" means that all of them are claims.
 */
export async function division(project: string, pool: Pool): Promise<"divided" | "whole" | "unknown"> {
  if (pool.status.capacity.allocated === "0") return "whole";
  const { items, nextCursor } = await ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path: { project }, query: { pool: pool.metadata.name, purpose: "ChildPool", limit: 1 } },
  }));
  return items.length > 0 ? "divided" : nextCursor === undefined ? "whole" : "unknown";
}

/** Formats a reference without the project if it is the own project. */
export const refText = (project: string, ref: { project: string; name: string }) => (ref.project === project ? ref.name : `${ref.project}/${ref.name}`);

/** Runs work for all items, at most some at once, and returns the results in order. After a failure it starts no more. */
export async function each<T, R>(items: T[], work: (item: T, index: number) => Promise<R>, atOnce = 6): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const i = next++;
      try {
        results[i] = await work(items[i]!, i);
      } catch (cause) {
        next = items.length;
        throw cause;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

export interface Node {
  name: string;
  cidr: string;
  block?: Block | undefined;
  parent?: string | undefined;
  pool?: Pool | undefined;
  /** Other pools were carved from it. Its percentage then counts the space in child pools, used or not. */
  divided?: boolean | undefined;
}

/** Makes the tree's node of a pool, or of a pool of which only name and block are known yet. */
export function nodeOf(of: Pool | Node): Node {
  if (!("metadata" in of)) return { ...of, block: parseBlock(of.cidr) };
  const { metadata, status } = of;
  return { name: metadata.name, cidr: status.allocatedCIDR, block: parseBlock(status.allocatedCIDR), parent: status.parentRef?.name, pool: of };
}

/** Formats the space of a root pool for its project. */
export const spaceOf = (node: Node) => {
  const space = node.pool?.status.spaceRef;
  return !space || node.parent ? "" : space.project === node.pool?.metadata.project ? space.name : `${space.project}/${space.name}`;
};

export function byAddress(a: Node, b: Node): number {
  const [left, right] = [spaceOf(a), spaceOf(b)];
  return left === right ? compareBlocks(a.block, b.block) : left < right ? -1 : 1;
}

/** Reports whether a pool matches a filter: by name, label, an address in it, or a block that overlaps it. */
export function matches(node: Node, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const block = /[.:]/.test(wanted) ? parseBlock(wanted) : undefined;
  if (block && node.block) return contains(node.block, block) || contains(block, node.block);
  if (node.name.includes(wanted) || node.cidr.includes(wanted)) return true;
  return Object.entries(node.pool?.metadata.labels ?? {}).some(([k, v]) => `${k}=${v}`.toLowerCase().includes(wanted));
}

/** Ignores that a pool was deleted in the meantime. */
export function ignoreGone(cause: unknown): undefined {
  if (isGone(cause)) return undefined;
  throw cause;
}
