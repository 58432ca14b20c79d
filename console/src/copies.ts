// The same request for other tools.
import type { Pool, Schemas } from "./api";
import { bits, parseBlock } from "./net/cidr";

type Body = Schemas["IPClaimCreate"];

const quote = (text: string) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export function asCurl(project: string, body: Body): string {
  return `curl -X POST ${location.origin}/v1/projects/${project}/claims \\
  -H "Authorization: Bearer $CARVE_API_KEY" -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -d ${quote(JSON.stringify(body))}`;
}

/** Formats the name of a pool for `project`. */
const poolText = (project: string, { project: owner = project, name }: { project?: string; name: string }) => (owner === project ? name : `${owner}/${name}`);

export function asIpamctl(project: string, body: Body): string {
  const { metadata, spec } = body;
  const words = ["ipamctl claim create"];
  const flag = (name: string, value: string | number | undefined) => { if (value !== undefined && value !== "") words.push(`--${name}`, quote(String(value))); };
  if (metadata.name) words.push(metadata.name);
  else flag("generate-name", metadata.generateName);
  words.push("-p", project);
  flag("class", spec.className);
  for (const [role, value] of Object.entries(spec.scope ?? {})) flag("scope", `${role}=${value}`);
  flag("pool", spec.poolRef && poolText(project, spec.poolRef));
  flag("selector", spec.poolSelector && conditions(spec.poolSelector));
  flag("allocation", spec.allocationRef && poolText(project, spec.allocationRef));
  flag("cidr", spec.cidr);
  flag("address", spec.address);
  flag("prefix-length", spec.prefixLength);
  flag("family", spec.ipFamily);
  flag("reclaim-policy", spec.reclaimPolicy);
  flag("owner", spec.ownerRef && [spec.ownerRef.kind ?? "", spec.ownerRef.name ?? "", spec.ownerRef.uid ?? ""].join("/").replace(/\/+$/, ""));
  for (const [k, v] of Object.entries(metadata.labels ?? {})) flag("label", `${k}=${v}`);
  return words.join(" ");
}

/** Formats a selector in the syntax of Kubernetes. */
function conditions({ matchLabels, matchExpressions }: Schemas["LabelSelector"]): string {
  const written = { In: "in", NotIn: "notin" } as const;
  return [
    ...Object.entries(matchLabels ?? {}).map(([k, v]) => `${k}=${v}`),
    ...(matchExpressions ?? []).map(({ key, operator, values }) =>
      operator === "Exists" ? key : operator === "DoesNotExist" ? `!${key}` : `${key} ${written[operator]} (${values?.join(",") ?? ""})`),
  ].join(",");
}

/**
 * Returns the command with which a team claims its first block from a pool that was carved for it. It names a size, because the pool has no default
 * one.
 */
export function claimCommand(team: string, owner: string, pool: Pool): string {
  const block = parseBlock(pool.status.allocatedCIDR)!;
  const prefixLength = pool.spec.allocation?.defaultPrefixLength ?? Math.min(bits(block.family), block.length + 4);
  return asIpamctl(team, { metadata: { name: "first-block" }, spec: { poolRef: { project: owner, name: pool.metadata.name }, prefixLength } });
}

/** Formats a string of Terraform's language, in which ${ begins an expression. */
const text = (value: string) => JSON.stringify(value).replaceAll(/[$%]\{/g, (begin) => begin[0] + begin);

const map = (values: Record<string, string>) =>
  `{ ${Object.entries(values).map(([k, v]) => `${/^[a-z_][a-z0-9_-]*$/i.test(k) ? k : text(k)} = ${text(v)}`).join(", ")} }`;

export function asTerraform(project: string, { metadata, spec }: Body): string {
  const attributes: [string, string][] = [["project", text(project)], ["name", text(metadata.name ?? "block")]];
  const add = (name: string, value: string | undefined) => { if (value) attributes.push([name, text(value)]); };
  add("class", spec.className);
  if (spec.scope && Object.keys(spec.scope).length > 0) attributes.push(["scope", map(spec.scope)]);
  add("pool", spec.poolRef && poolText(project, spec.poolRef));
  add("allocation", spec.allocationRef?.name);
  add("cidr", spec.cidr);
  add("address", spec.address);
  if (spec.prefixLength !== undefined) attributes.push(["prefix_length", String(spec.prefixLength)]);
  add("ip_family", spec.ipFamily);
  add("reclaim_policy", spec.reclaimPolicy);
  const { kind, name, uid } = spec.ownerRef ?? {};
  if (kind || name || uid) attributes.push(["owner_ref", map({ ...(kind ? { kind } : {}), ...(name ? { name } : {}), ...(uid ? { uid } : {}) })]);
  if (Object.keys(metadata.labels ?? {}).length > 0) attributes.push(["labels", map(metadata.labels!)]);
  const width = Math.max(...attributes.map(([name]) => name.length));
  const lines = attributes.map(([name, value]) => `  ${name.padEnd(width)} = ${value}`);
  if (metadata.name === undefined) lines[1] += " # Terraform identifies a claim by its name: choose one";
  return [`resource "carve_claim" "${identifier(metadata.name ?? "block")}" {`, ...lines, "}"].join("\n");
}

/** Makes an identifier for Terraform: letters, digits and underscores, no digit first. */
const identifier = (name: string) => name.replaceAll(/[^a-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
