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
  if (spec.poolRef)
    words.push(
      "--pool",
      spec.poolRef.project && spec.poolRef.project !== project ? `${spec.poolRef.project}/${spec.poolRef.name}` : spec.poolRef.name,
    );
  if (spec.cidr) words.push("--cidr", spec.cidr);
  if (spec.prefixLength !== undefined) words.push("--prefix-length", String(spec.prefixLength));
  for (const [k, v] of Object.entries(metadata.labels ?? {})) words.push("--label", quote(`${k}=${v}`));
  return words.join(" ");
}

/** A string of Terraform's language, in which ${ begins an expression. */
const text = (value: string) => JSON.stringify(value).replaceAll(/[$%]\{/g, (begin) => begin[0] + begin);

export function asTerraform(project: string, { metadata, spec }: Body): string {
  const labels = Object.entries(metadata.labels ?? {}).map(([k, v]) => `${/^[a-z_][a-z0-9_-]*$/i.test(k) ? k : text(k)} = ${text(v)}`);
  const attributes: [string, string][] = [["project", text(project)], ["name", text(metadata.name ?? "block")]];
  if (spec.className) attributes.push(["class", text(spec.className)]);
  if (spec.poolRef) {
    const { project: owner = project, name } = spec.poolRef;
    attributes.push(["pool", text(owner === project ? name : `${owner}/${name}`)]);
  }
  if (spec.cidr) attributes.push(["cidr", text(spec.cidr)]);
  if (spec.prefixLength !== undefined) attributes.push(["prefix_length", String(spec.prefixLength)]);
  if (labels.length > 0) attributes.push(["labels", `{ ${labels.join(", ")} }`]);
  const width = Math.max(...attributes.map(([name]) => name.length));
  const lines = attributes.map(([name, value]) => `  ${name.padEnd(width)} = ${value}`);
  if (metadata.name === undefined) lines[1] += " # Terraform knows a claim by its name: choose one";
  return [`resource "carve_claim" "${identifier(metadata.name ?? "block")}" {`, ...lines, "}"].join("\n");
}

/** A name as Terraform has them: letters, digits and underscores, no digit first. */
const identifier = (name: string) => name.replaceAll(/[^a-z0-9_]/g, "_").replace(/^(?=\d)/, "_");
