// Finding things by address, block, name or label, over all projects of the caller.
import { api, ask, askPath, Refused } from "./api";
import { parseBlock } from "./net/cidr";
import { ignoreGone } from "./pools";
import { to } from "./router";

export interface Hit {
  kind: string;
  project: string;
  name: string;
  cidr?: string;
  poolRef?: { project: string; name: string };
  why?: string;
}

let missing = false; // the server has no search

/** What the server finds, the best first; a server without search is asked by name in one project. */
export async function searchFor(text: string, project: string | undefined, signal?: AbortSignal): Promise<Hit[]> {
  if (!missing) {
    try {
      const found = await askPath<{ items: Hit[] }>(`/v1/search?limit=30&q=${encodeURIComponent(text.trim())}`, signal ? { signal } : {});
      return found.items;
    } catch (cause) {
      if (!(cause instanceof Refused && [404, 405].includes(cause.problem.status))) throw cause;
      missing = true;
    }
  }
  return project === undefined ? [] : searchByHand(text.trim(), project);
}

async function searchByHand(text: string, project: string): Promise<Hit[]> {
  const block = /[.:]/.test(text) ? parseBlock(text) : undefined;
  const path = { project };
  if (block) {
    const within = text.includes("/") ? { within: text } : { contains: text };
    const found = await ask(api.GET("/v1/projects/{project}/pools", { params: { path, query: { ...within, limit: 20 } } }));
    return found.items.map((p) => ({ kind: "IPPool", project, name: p.metadata.name, cidr: p.status.allocatedCIDR }));
  }
  if (text.includes("=")) {
    const params = { path, query: { labelSelector: text, limit: 20 } };
    const [pools, claims] = await Promise.all([
      ask(api.GET("/v1/projects/{project}/pools", { params })), ask(api.GET("/v1/projects/{project}/claims", { params })),
    ]);
    return [
      ...pools.items.map((p) => ({ kind: "IPPool", project, name: p.metadata.name, cidr: p.status.allocatedCIDR })),
      ...claims.items.map((c) => ({ kind: "IPClaim", project, name: c.metadata.name, cidr: c.status.allocatedCIDR })),
    ];
  }
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(text)) return [];
  const [pool, claim] = await Promise.all([
    ask(api.GET("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool: text } } })).catch(ignoreGone),
    ask(api.GET("/v1/projects/{project}/claims/{claim}", { params: { path: { project, claim: text } } })).catch(ignoreGone),
  ]);
  return [
    ...(pool ? [{ kind: "IPPool", project, name: text, cidr: pool.status.allocatedCIDR }] : []),
    ...(claim ? [{ kind: "IPClaim", project, name: text, cidr: claim.status.allocatedCIDR }] : []),
  ];
}

/** The page that shows what was found. */
export function pageOf(hit: Hit): string {
  if (hit.kind === "IPPool" || hit.kind === "Pool") return to.pool(hit.project, hit.name);
  if (hit.kind === "IPClaim" || hit.kind === "Claim") return to.claim(hit.project, hit.name);
  if (hit.kind === "Project") return to.project(hit.name);
  if (hit.cidr) return to.address(hit.project, hit.cidr.split("/")[0]!);
  return to.project(hit.project);
}

export const kindNames: Record<string, string> = {
  IPPool: "Pool", IPClaim: "Claim", IPAllocation: "Allocation", IPClass: "Class", Project: "Project", Space: "Space", Address: "Address",
};
