// Export and import, a step at a time. Each can be stopped, waits while the server is busy, and is safe to repeat.
import { api, ask, Lost, Refused, type Claim, type Pool } from "../api";
import { contains, parseBlock, type Block } from "../net/cidr";
import { each } from "../pools";
import { breathe } from "./transfer-csv";
import { cellsOfClaim, cellsOfPool, claimOf, differences, poolOf, refuse, type Row } from "./transfer-rows";

export type Progress = (what: string, done: number, of?: number) => void;

const busy = ["rate_limited", "unavailable", "contention", "deadline", "outcome_unknown"];
const turns = 8;

function pause(ms: number, stop: AbortSignal) {
  return new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    stop.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
  });
}

/** Retries with growing pauses while the server is busy or away. All requests here can be repeated. */
async function patiently<T>(stop: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    stop.throwIfAborted();
    try {
      return await work();
    } catch (cause) {
      const passes = cause instanceof Lost || (cause instanceof Refused && busy.includes(cause.problem.code));
      if (!passes || turn === turns || stop.aborted) throw cause;
      await pause(Math.min(10_000, 250 * 2 ** turn), stop);
    }
  }
}

type Query = { limit: number; cursor?: string };

export const listPools = (project: string, query: Query, signal: AbortSignal) =>
  ask<{ items: Pool[]; nextCursor?: string }>(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query }, signal }));
export const listClaims = (project: string, query: Query, signal: AbortSignal) =>
  ask<{ items: Claim[]; nextCursor?: string }>(api.GET("/v1/projects/{project}/claims", { params: { path: { project }, query }, signal }));

/** Reads a list page by page and passes on each page. */
export async function pageByPage<T>(
  project: string, list: (project: string, query: Query, signal: AbortSignal) => Promise<{ items: T[]; nextCursor?: string }>, stop: AbortSignal, take: (items: T[]) => void,
) {
  let cursor: string | undefined;
  do {
    const query = { limit: 500, ...(cursor ? { cursor } : {}) };
    const page = await patiently(stop, () => list(project, query, stop));
    take(page.items);
    cursor = page.nextCursor;
    await breathe();
  } while (cursor);
}

type Cells = Row["cells"];
const fewRows = 100; // up to so many rows are read by name; for more the whole list is read

async function whatIsThere(project: string, rows: Row[], stop: AbortSignal, progress: Progress): Promise<Map<string, Cells>> {
  const there = new Map<string, Cells>();
  const name = (row: Row) => `${row.kind} ${row.name}`;
  if (rows.length <= fewRows) {
    let done = 0;
    await each(rows, async (row) => {
      const found = await patiently(stop, () => one(project, row, stop));
      if (found) there.set(name(row), found);
      progress("Looking for existing objects", ++done, rows.length);
    });
    return there;
  }
  for (const kind of ["pool", "claim"] as const) {
    if (!rows.some((row) => row.kind === kind)) continue;
    let read = 0;
    const take = (cells: Cells[]) => {
      for (const c of cells) there.set(`${kind} ${c.name}`, c);
      progress(`Reading the existing ${kind}s`, read += cells.length);
    };
    if (kind === "pool") await pageByPage(project, listPools, stop, (items) => take(items.map((pool) => cellsOfPool(project, pool))));
    else await pageByPage(project, listClaims, stop, (items) => take(items.map((claim) => cellsOfClaim(project, claim))));
  }
  return there;
}

async function one(project: string, { kind, name }: { kind: Row["kind"]; name: string }, signal: AbortSignal): Promise<Cells | undefined> {
  try {
    return kind === "pool"
      ? cellsOfPool(project, await ask(api.GET("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool: name } }, signal })))
      : cellsOfClaim(project, await ask(api.GET("/v1/projects/{project}/claims/{claim}", { params: { path: { project, claim: name } }, signal })));
  } catch (cause) {
    if (cause instanceof Refused && cause.problem.status === 404) return undefined;
    throw cause;
  }
}

/** The dry run: finds existing objects, their differences, and the server's refusals. It changes nothing. */
export async function compare(project: string, rows: Row[], stop: AbortSignal, progress: Progress) {
  const sound = rows.filter((row) => row.state !== "refused");
  const there = await whatIsThere(project, sound, stop, progress);
  for (const row of sound) {
    const found = there.get(`${row.kind} ${row.name}`);
    const differs = found ? differences(row, found) : [];
    row.state = !found ? "new" : differs.length > 0 ? "differs" : "same";
    row.detail = differs.length > 0 || !found ? differs.join("; ") : leftOpen(row) ? `Has ${found.cidr}.` : "";
  }
  const made = sound.filter((row) => row.state === "new");
  refuseOverlaps(made);
  const coming = new Map(made.filter((row) => row.kind === "pool" && row.state === "new").map((row) => [row.name, row]));
  refuseOutside(made, coming);
  const later = (row: Row) => coming.has(row.cells.pool ?? "");
  for (const row of made) if (row.state === "new" && later(row)) row.detail = `Import creates it after pool ${row.cells.pool}, which is new too.`;
  const asked = made.filter((row) => row.state === "new" && !later(row));
  await place(project, asked, true, "", stop, progress, "new");
}

/** Refuses rows of one pool, or of one space, that overlap. */
function refuseOverlaps(rows: Row[]) {
  const groups = new Map<string, { row: Row; block: Block }[]>();
  for (const row of rows) {
    const block = row.cells.cidr?.startsWith("/") ? undefined : parseBlock(row.cells.cidr ?? "");
    if (!block) continue;
    const group = row.cells.pool ? `pool ${row.cells.pool}` : `${row.kind} ${row.cells.space ?? ""} ${row.cells.class ?? ""}`;
    const others = groups.get(group);
    if (others) others.push({ row, block });
    else groups.set(group, [{ row, block }]);
  }
  for (const group of groups.values()) {
    group.sort((a, b) => a.block.family - b.block.family || (a.block.base < b.block.base ? -1 : a.block.base > b.block.base ? 1 : a.block.length - b.block.length));
    let last = group[0]!;
    for (const next of group.slice(1)) {
      if (contains(last.block, next.block)) refuse(next.row, `Its block overlaps the block of ${last.row.name} in line ${last.row.line}.`);
      else last = next;
    }
  }
}

/** Refuses rows outside a pool that is new as well. The server cannot check them before the pool exists, so this compares their blocks. */
function refuseOutside(rows: Row[], coming: Map<string, Row>) {
  for (const row of rows) {
    const outer = parseBlock(coming.get(row.cells.pool ?? "")?.cells.cidr ?? "");
    const inner = row.cells.cidr?.startsWith("/") ? undefined : parseBlock(row.cells.cidr ?? "");
    if (row.state === "new" && outer && inner && !contains(outer, inner)) refuse(row, `Its block is not inside the block of ${row.cells.pool}.`);
  }
}

/** Creates the new objects, pools before their contents. Repeating the same run creates nothing twice. */
export async function apply(project: string, rows: Row[], run: string, stop: AbortSignal, progress: Progress) {
  await place(project, rows.filter((row) => row.state === "new"), false, run, stop, progress, "made");
}

const batch = 250;

async function place(project: string, rows: Row[], dry: boolean, run: string, stop: AbortSignal, progress: Progress, then: "new" | "made") {
  let done = 0;
  const what = dry ? "Asking the server about each row" : "Importing";
  const told = (n: number) => progress(what, done += n, rows.length);
  told(0);
  for (const level of levels(rows.filter((row) => row.kind === "pool"))) {
    await each(level, async (row) => {
      await placePool(project, row, dry, run, stop, then);
      told(1);
    }, 4);
  }
  const claims = rows.filter((row) => row.kind === "claim");
  for (let i = 0; i < claims.length; i += batch) {
    const some = claims.slice(i, i + batch);
    await placeClaims(project, some, dry, run, stop, then);
    told(some.length);
    await breathe();
  }
}

/** Orders pools so that each comes after its parent. */
function levels(pools: Row[]): Row[][] {
  const depths = new Map<string, number>();
  const byName = new Map(pools.map((row) => [row.name, row]));
  const depthOf = (row: Row, above: number): number => {
    const known = depths.get(row.name);
    const parent = byName.get(row.cells.pool ?? "");
    if (known !== undefined || !parent || above > pools.length) return known ?? 0;
    const depth = depthOf(parent, above + 1) + 1;
    depths.set(row.name, depth);
    return depth;
  };
  const out: Row[][] = [];
  for (const row of pools) (out[depthOf(row, 0)] ??= []).push(row);
  return out.filter((level) => level !== undefined);
}

const keyOf = (run: string, what: string) => ({ "Idempotency-Key": `import-${run}-${what}` });

async function placePool(project: string, row: Row, dry: boolean, run: string, stop: AbortSignal, then: "new" | "made") {
  try {
    const pool = await patiently(stop, () => ask(api.POST("/v1/projects/{project}/pools", {
      params: { path: { project }, ...(dry ? { query: { dryRun: true } } : { header: keyOf(run, `pool-${row.name}`) }) }, body: poolOf(row), signal: stop,
    })));
    settled(row, then, pool.status.allocatedCIDR);
  } catch (cause) {
    refusedBy(cause, [row]);
  }
}

/**
 * Creates claims in a batch, which the server accepts or refuses as a whole. It removes the rows that the server names and tries the rest again in
 * two parts.
 */
async function placeClaims(project: string, rows: Row[], dry: boolean, run: string, stop: AbortSignal, then: "new" | "made"): Promise<void> {
  if (rows.length === 0) return;
  try {
    const { claims: made } = await patiently(stop, () => ask(api.POST("/v1/projects/{project}/claim-batches", {
      params: { path: { project }, ...(dry ? { query: { dryRun: true } } : { header: keyOf(run, `${rows[0]!.line}-${rows.at(-1)!.line}-${rows.length}`) }) },
      body: { claims: rows.map(claimOf) }, signal: stop,
    })));
    for (const [i, row] of rows.entries()) settled(row, then, made[i]!.status.allocatedCIDR);
  } catch (cause) {
    if (rows.length === 1 || (cause instanceof Refused && cause.problem.status === 403)) return refusedBy(cause, rows);
    if (!(cause instanceof Refused) || cause.problem.status === 401 || cause.problem.status >= 500) throw cause;
    const named = cause.problem.errors?.map((e) => /^\/claims\/(\d+)/.exec(e.pointer)?.[1]).find((i) => i !== undefined);
    const at = named === undefined ? rows.length >> 1 : Number(named);
    if (named !== undefined) refusedBy(cause, [rows[at]!]);
    await placeClaims(project, rows.slice(0, at), dry, run, stop, then);
    await placeClaims(project, rows.slice(named === undefined ? at : at + 1), dry, run, stop, then);
  }
}

/** Reports whether the row leaves the block to the server. */
const leftOpen = (row: Row) => !row.cells.cidr || row.cells.cidr.startsWith("/");

function settled(row: Row, state: "new" | "made", cidr: string) {
  row.state = state;
  row.detail = state === "made" && leftOpen(row) ? `Got ${cidr}.` : "";
}

/** Refuses the rows with the server's own words. An error that is not a refusal of these rows ends the run. */
function refusedBy(cause: unknown, rows: Row[]) {
  if (!(cause instanceof Refused) || cause.problem.status === 401 || cause.problem.status >= 500) throw cause;
  for (const row of rows) refuse(row, `${cause.problem.code}: ${cause.problem.detail}`);
}
