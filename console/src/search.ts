// Search by address, block, name or label over all projects of the user.
import { api, ask, type Schemas } from "./api";
import { to } from "./router";

export type Hit = Pick<Schemas["SearchItem"], "name" | "project" | "cidr" | "consumer" | "purpose" | "poolRef" | "spaceRef"> & {
  kind: Schemas["SearchKind"] | "Address";
  why: string;
};

/** The hits, best first. truncated means that there may be more. */
export interface Hits { items: Hit[]; truncated: boolean }

const reasons: Record<Schemas["SearchReason"], string> = {
  Name: "this name", NamePrefix: "name begins with it", Block: "this block", Holds: "holds it", Contains: "around it", Label: "has the label",
};

export async function searchFor(
  text: string, { kind, limit = 30, signal }: { kind?: Schemas["SearchKind"]; limit?: number; signal?: AbortSignal } = {},
): Promise<Hits> {
  const { items, truncated } = await ask(api.GET("/v1/search", {
    params: { query: { q: text.trim(), limit, ...(kind ? { kind } : {}) } }, ...(signal ? { signal } : {}),
  }));
  return { items: items.map((item) => ({ ...item, why: reasons[item.why] })), truncated };
}
/** Returns the page that shows a hit. */
export function pageOf(hit: Hit): string {
  const project = hit.project ?? hit.name;
  if (hit.kind === "IPPool") return to.pool(project, hit.name);
  if (hit.kind === "IPClaim") return to.claim(project, hit.name);
  if (hit.cidr) return to.address(project, hit.cidr.split("/")[0]!);
  return to.project(project);
}

export const kindNames: Record<Hit["kind"], string> = {
  IPPool: "Pool",
  IPClaim: "Claim",
  IPAllocation: "Held",
  IPClass: "Class",
  IPConsumer: "Consumer",
  Project: "Project",
  Space: "Space",
  Address: "Address",
};

/** Returns the title of a hit. An allocation has no name of its own. */
export const titleOf = (hit: Hit) => (hit.kind === "IPAllocation" ? hit.consumer ?? hit.purpose ?? "Held" : hit.name);
