// The same request for other tools.
import type { Schemas } from "./api";

type Body = Schemas["IPClaimCreate"];

const quote = (text: string) => (/^[\w./:=@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export function asCurl(project: string, body: Body): string {
  return `curl -X POST ${location.origin}/v1/projects/${project}/claims \\
  -H "Authorization: Bearer $CARVE_API_KEY" -H 'Content-Type: application/json' \\
  -H "Idempotency-Key: $(uuidgen)" \\
  -d ${quote(JSON.stringify(body))}`;
}

export function asIpamctl(project: string, body: Body): string {
  const { metadata, spec } = body;
  const words = ["ipamctl claim create"];
  if (metadata.name) words.push(metadata.name);
  else if (metadata.generateName) words.push("--generate-name", metadata.generateName);
  words.push("-p", project);
  if (spec.className) words.push("--class", spec.className);
  if (spec.poolRef) words.push("--pool", spec.poolRef.project && spec.poolRef.project !== project ? `${spec.poolRef.project}/${spec.poolRef.name}` : spec.poolRef.name);
  if (spec.cidr) words.push("--cidr", spec.cidr);
  if (spec.prefixLength !== undefined) words.push("--prefix-length", String(spec.prefixLength));
  for (const [k, v] of Object.entries(metadata.labels ?? {})) words.push("--label", quote(`${k}=${v}`));
  return words.join(" ");
}

export function asTerraform(project: string, body: Body): string {
  const { metadata, spec } = body;
  const name = metadata.name ?? "block";
  const lines = ["# of the provider carve-ipam/carve", `resource "carve_claim" "${name.replaceAll(/[^a-z0-9_]/g, "_")}" {`, `  project = "${project}"`, `  name    = "${name}"`];
  if (spec.className) lines.push(`  class   = "${spec.className}"`);
  if (spec.poolRef) lines.push(`  pool    = "${spec.poolRef.project ?? project}/${spec.poolRef.name}"`);
  if (spec.cidr) lines.push(`  cidr    = "${spec.cidr}"`);
  if (spec.prefixLength !== undefined) lines.push(`  prefix_length = ${spec.prefixLength}`);
  const labels = Object.entries(metadata.labels ?? {});
  if (labels.length > 0) lines.push("  labels = {", ...labels.map(([k, v]) => `    "${k}" = "${v}"`), "  }");
  return [...lines, "}"].join("\n");
}
