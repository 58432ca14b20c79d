// The rows in which pools and claims are exported and imported.
import type { Claim, Pool, Schemas } from "../api";
import { parseBlock } from "../net/cidr";
import { plural } from "../format";
import { meant, unreadable, type Record } from "./transfer-csv";

export const columns = ["kind", "name", "cidr", "pool", "space", "class", "scope", "description", "visibility", "labels"] as const;
export type Column = (typeof columns)[number];
type Cells = { [column in Column]?: string };

export type State = "waiting" | "new" | "same" | "differs" | "refused" | "made";

/** A row of a file with its state. */
export interface Row {
  line: number;
  cells: Cells;
  kind: "pool" | "claim";
  name: string;
  state: State;
  detail: string;
}

interface Ref { project: string; name: string }
const within = (project: string, ref: Ref | undefined) => (!ref ? "" : ref.project === project ? ref.name : `${ref.project}/${ref.name}`);
const refOf = (text: string) => (text.includes("/") ? { project: text.slice(0, text.indexOf("/")), name: text.slice(text.indexOf("/") + 1) } : { name: text });
const pairs = (of: { [key: string]: string } | undefined) => Object.entries(of ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)).map(([k, v]) => `${k}=${v}`).join(" ");

export function cellsOfPool(project: string, pool: Pool): Cells {
  const space = within(project, pool.status.spaceRef);
  return {
    kind: "pool", name: pool.metadata.name, cidr: pool.status.allocatedCIDR, pool: within(project, pool.status.parentRef),
    space: pool.status.parentRef || space === "default" ? "" : space, description: pool.spec.description ?? "", visibility: pool.spec.visibility ?? "consumer",
    labels: pairs(pool.metadata.labels),
  };
}

export function cellsOfClaim(project: string, claim: Claim): Cells {
  return {
    kind: "claim", name: claim.metadata.name, cidr: claim.status.allocatedCIDR, pool: within(project, claim.status.poolRef),
    class: claim.spec.poolRef ? "" : claim.status.className ?? "", scope: pairs(claim.spec.scope), labels: pairs(claim.metadata.labels),
  };
}

export const texts = (cells: Cells) => columns.map((column) => cells[column] ?? "");

export const mostRows = 100_000;

/** Parses the rows of a file. It refuses a row that is wrong by itself. */
export function rowsOf(records: Record[]): Row[] {
  const [head, ...rest] = records;
  if (!head) throw unreadable("The file is empty.");
  const names = head.cells.map((c) => c.trim().toLowerCase());
  const strange = names.filter((name) => !columns.includes(name as Column) && !["outcome", "detail", "line", ""].includes(name));
  if (strange.length > 0) throw unreadable(`The first line names unknown columns: ${strange.join(", ")}. Use only ${columns.join(", ")}.`);
  const twice = names.find((name, i) => name !== "" && names.indexOf(name) !== i);
  if (twice !== undefined) throw unreadable(`The first line names the column ${twice} twice.`);
  for (const needed of ["kind", "name", "cidr"]) if (!names.includes(needed)) throw unreadable(`The first line has no column ${needed}. It names the columns: ${columns.join(", ")}.`);
  const again = rest.find((record) => record.cells.length === names.length && record.cells.every((c, i) => c.trim().toLowerCase() === names[i]));
  if (again) throw unreadable(`Line ${again.line} names the columns again: the file has two tables. Divide it into two files.`);
  if (rest.length > mostRows) throw unreadable(`The file has ${rest.length.toLocaleString("en")} rows. Divide it into files of at most ${mostRows.toLocaleString("en")}.`);
  const seen = new Map<string, number>();
  return rest.map((record) => {
    const cells: Cells = {};
    for (const [i, name] of names.entries()) if (columns.includes(name as Column)) cells[name as Column] = meant(record.cells[i] ?? "").trim();
    const kind = cells.kind === "pool" ? "pool" : "claim";
    const row: Row = { line: record.line, cells, kind, name: cells.name ?? "", state: "waiting", detail: "" };
    const before = seen.get(`${kind} ${row.name}`);
    const fields = record.cells.length;
    const wrong = fields !== names.length ? `The line has ${plural(fields, "field")}, but the first line has ${names.length}.` : before ? `Line ${before} has the same name.` : wrongWith(cells);
    if (wrong) refuse(row, wrong);
    else seen.set(`${kind} ${row.name}`, row.line);
    return row;
  });
}

export function refuse(row: Row, why: string) {
  row.state = "refused";
  row.detail = why;
}

function wrongWith(cells: Cells): string | undefined {
  if (cells.kind !== "pool" && cells.kind !== "claim") return `kind is "${cells.kind}"; use pool or claim.`;
  if (!cells.name) return "The name is missing.";
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(cells.name)) return "A name must have at most 63 lower-case letters, digits and hyphens.";
  const block = cells.cidr ?? "";
  if (!/^\/\d{1,3}$/.test(block) && !(cells.kind === "claim" && block === "") && !parseBlock(block)) return `"${block}" is not a block. Use 10.0.0.0/24, or /24 for any block of this size.`;
  if (cells.kind === "pool" && !cells.pool && !parseBlock(block)) return "A pool without a parent needs a block.";
  for (const column of ["labels", "scope"] as const) {
    const bad = split(cells[column]).find((pair) => pair.indexOf("=") < 1);
    if (bad !== undefined) return `${column} has "${bad}", which is not name=value.`;
    const keys = split(cells[column]).map((pair) => pair.slice(0, pair.indexOf("=")));
    const twice = keys.find((name, i) => keys.indexOf(name) !== i);
    if (twice !== undefined) return `${column} has ${twice} twice.`;
  }
  if (cells.visibility && !["platform", "consumer", "shared"].includes(cells.visibility)) return "visibility must be consumer, shared or platform.";
  return undefined;
}

const split = (text: string | undefined) => (text ?? "").split(/[\s,]+/).filter((part) => part !== "");
const mapOf = (text: string | undefined) => Object.fromEntries(split(text).map((p) => [p.slice(0, p.indexOf("=")), p.slice(p.indexOf("=") + 1)]));

const some = <K extends string, V>(key: K, value: V | undefined) => (value === undefined || value === "" ? {} : { [key]: value } as { [k in K]: V });
const metadata = (row: Row) => ({ name: row.name, ...(row.cells.labels ? { labels: mapOf(row.cells.labels) } : {}) });

/** Returns the block, or only its length. */
function sizeOf(row: Row) {
  const text = row.cells.cidr ?? "";
  if (text.startsWith("/")) return { prefixLength: Number(text.slice(1)) };
  return text === "" ? {} : { cidr: text.includes("/") ? text : `${text}/${text.includes(":") ? 128 : 32}` };
}

export function poolOf(row: Row): Schemas["IPPoolCreate"] {
  const { pool, space, description, visibility } = row.cells;
  return {
    metadata: metadata(row),
    spec: {
      ...sizeOf(row), ...(pool ? { parentRef: { name: pool } } : space ? { spaceRef: refOf(space) } : {}), ...some("description", description),
      ...(visibility && visibility !== "consumer" ? { visibility: visibility as Schemas["PoolVisibility"] } : {}),
    },
  };
}

export function claimOf(row: Row): Schemas["IPClaimCreate"] {
  const { pool, scope } = row.cells;
  const from = row.cells.class ? { className: row.cells.class, ...(scope ? { scope: mapOf(scope) } : {}) } : pool ? { poolRef: refOf(pool) } : {};
  return { metadata: metadata(row), spec: { ...from, ...sizeOf(row) } };
}

const normal = { labels: (text: string) => pairs(mapOf(text)), scope: (text: string) => pairs(mapOf(text)), visibility: (text: string) => text || "consumer", space: (text: string) => (text === "default" ? "" : text) } as
  { [column in Column]?: (text: string) => string };

/**
 * Compares a row with the existing object and returns a sentence for each difference. It does not compare a column that the file lacks, or a block
 * that the row leaves to the server.
 */
export function differences(row: Row, there: Cells): string[] {
  const out: string[] = [];
  for (const column of columns) {
    const wanted = row.cells[column];
    if (wanted === undefined || column === "kind" || column === "name") continue;
    if ((column === "class" || column === "pool") && wanted === "" && row.kind === "claim") continue;
    const has = there[column] ?? "";
    if (column === "cidr") {
      const block = parseBlock(has);
      const same = wanted === "" || (wanted.startsWith("/") ? block?.length === Number(wanted.slice(1)) : key(wanted) === key(has));
      if (!same) out.push(`cidr: ${has} in Carve, ${wanted} in the file`);
      continue;
    }
    const plain = normal[column] ?? ((text: string) => text);
    if (plain(wanted) !== plain(has)) out.push(`${column}: ${plain(has) || "nothing"} in Carve, ${plain(wanted) || "nothing"} in the file`);
  }
  return out;
}

function key(text: string): string {
  const block = parseBlock(text);
  return block ? `${block.family} ${block.base} ${block.length}` : text;
}
