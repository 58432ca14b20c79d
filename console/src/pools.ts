// Reading pools: a project may have a hundred thousand, so that nothing here asks for all of them.
import { api, ask, isGone, pagesOf, type Allocation, type Pool } from "./api";
import { compareBlocks, contains, parseBlock, type Block } from "./net/cidr";

const page = 500;

const query = (cursor: string | undefined, limit: number) => ({ limit, ...(cursor ? { cursor } : {}) });

/** The first pools of a project in order of name; with no cursor in the answer, all. */
export const firstPools = (project: string, enough = page) => pagesOf<Pool>(
  (next) => ask(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query: query(next, page) } })), enough,
);

/** Pools that were carved from a space and not from another pool: a page, or as many as asked for, and where to go on. */
export const rootsOf = (project: string, cursor?: string, atLeast = 1) => pagesOf<Pool>(
  (next) => ask(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query: { roots: true, ...query(next, 200) } } })),
  atLeast, cursor,
);

export const getPool = (project: string, pool: string) =>
  ask(api.GET("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool } } }));

/** Child pools in order of address: a page, or as many as asked for, and where to go on. */
export const childrenOf = (project: string, pool: string, cursor?: string, atLeast = 1, within?: string) => pagesOf<Allocation>(
  (next) => ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path: { project }, query: { pool, purpose: "ChildPool", ...(within ? { within } : {}), ...query(next, page) } },
  })), atLeast, cursor,
);

/**
 * Whether pools were carved from this one. Its figures do not say so: a child pool counts as held. The server looks at the first 5,000 blocks;
 * "unknown" means that they are all claims.
 */
export async function division(project: string, pool: Pool): Promise<"divided" | "whole" | "unknown"> {
  if (pool.status.capacity.allocated === "0") return "whole";
  const { items, nextCursor } = await ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path: { project }, query: { pool: pool.metadata.name, purpose: "ChildPool", limit: 1 } },
  }));
  return items.length > 0 ? "divided" : nextCursor === undefined ? "whole" : "unknown";
}

/** A reference as the project writes it: without the project's own name. */
export const refText = (project: string, ref: { project: string; name: string }) => (ref.project === project ? ref.name : `${ref.project}/${ref.name}`);

/** Runs at most some at once, and answers the results in order. After a failure none begins. */
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
  /** Other pools were carved from it: its percentage says how much was handed on, not how much is used. */
  divided?: boolean | undefined;
}

/** What the tree has of a pool, or of one of which only name and block are known yet. */
export function nodeOf(of: Pool | Node): Node {
  if (!("metadata" in of)) return { ...of, block: parseBlock(of.cidr) };
  const { metadata, status } = of;
  return { name: metadata.name, cidr: status.allocatedCIDR, block: parseBlock(status.allocatedCIDR), parent: status.parentRef?.name, pool: of };
}

/** The space of an outermost pool, as it is written for its project. */
export const spaceOf = (node: Node) => {
  const space = node.pool?.status.spaceRef;
  return !space || node.parent ? "" : space.project === node.pool?.metadata.project ? space.name : `${space.project}/${space.name}`;
};

export function byAddress(a: Node, b: Node): number {
  const [left, right] = [spaceOf(a), spaceOf(b)];
  return left === right ? compareBlocks(a.block, b.block) : left < right ? -1 : 1;
}

/** Whether a pool is what somebody looks for: by name, by label, by an address in it or a block around it. */
export function matches(node: Node, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return true;
  const block = /[.:]/.test(wanted) ? parseBlock(wanted) : undefined;
  if (block && node.block) return contains(node.block, block) || contains(block, node.block);
  if (node.name.includes(wanted) || node.cidr.includes(wanted)) return true;
  return Object.entries(node.pool?.metadata.labels ?? {}).some(([k, v]) => `${k}=${v}`.toLowerCase().includes(wanted));
}

/** A pool may be deleted while it is asked for. */
export function ignoreGone(cause: unknown): undefined {
  if (isGone(cause)) return undefined;
  throw cause;
}
