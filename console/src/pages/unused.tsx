// What nobody used for a while: claims without a consumer that are old, to be looked through and released.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, type Claim } from "../api";
import { day, plural } from "../format";
import { formatCount, parseBlock, sizeOf } from "../net/cidr";
import { goQuery, Link, query, to } from "../router";
import { may } from "../session";
import { Badge, Dialog, Empty, Heading, Input, Select, Table, When } from "../ui/parts";
import { Trouble } from "../ui/trouble";

const batch = 10_000; // claims that are looked at before somebody is asked whether to go on
interface Scan { looked: number; found: Claim[]; cursor?: string | undefined; done: boolean; running: boolean; error?: unknown }
const fresh: Scan = { looked: 0, found: [], done: false, running: false };

/** Nobody uses it now, and it was neither made nor changed since. */
const unused = (claim: Claim, before: number) => (claim.status.consumers ?? 0) === 0 && new Date(claim.metadata.updatedAt).getTime() <= before;

function useScan(project: string, days: number, pool: string) {
  const [scan, setScan] = useState<Scan>(fresh);
  const stop = useRef<AbortController | undefined>(undefined);
  const go = async (from: Scan) => {
    stop.current?.abort();
    const own = (stop.current = new AbortController());
    let state: Scan = { ...from, running: true, error: undefined };
    const until = state.looked + batch;
    const before = Date.now() - days * day;
    try {
      while (!state.done && state.looked < until) {
        const page = await ask(api.GET("/v1/projects/{project}/claims", {
          params: { path: { project }, query: { limit: 500, ...(pool ? { pool } : {}), ...(state.cursor ? { cursor: state.cursor } : {}) } }, signal: own.signal,
        }));
        const found = [...state.found, ...page.items.filter((claim) => unused(claim, before))];
        state = { ...state, found, looked: state.looked + page.items.length, cursor: page.nextCursor, done: page.nextCursor === undefined };
        setScan(state);
      }
      setScan({ ...state, running: false });
    } catch (error) {
      if (!own.signal.aborted) setScan({ ...state, running: false, error });
    }
  };
  useEffect(() => { void go(fresh); return () => stop.current?.abort(); }, [project, days, pool]);
  return { scan, more: () => void go(scan), again: () => void go(fresh), halt: () => { stop.current?.abort(); setScan({ ...scan, running: false }); } };
}

export function UnusedPage({ project }: { project: string }) {
  const days = Number(query.value.get("days") ?? 90);
  const pool = query.value.get("pool") ?? "";
  const { scan, more, again, halt } = useScan(project, days, pool);
  const [chosen, setChosen] = useState(new Set<string>());
  const [releasing, setReleasing] = useState(false);
  const oldest = [...scan.found].sort((a, b) => a.metadata.updatedAt.localeCompare(b.metadata.updatedAt));
  const total = scan.found.reduce((sum, claim) => sum + size(claim), 0n);
  return (
    <>
      <Heading title="Unused" note="Claims that no consumer uses now, and that nobody has changed for a while. Ask their owners before you release them.">
        {may("consumer", project) && chosen.size > 0 && <button type="button" class="danger" onClick={() => setReleasing(true)}>Release {plural(chosen.size, "claim")}…</button>}
      </Heading>
      <div class="filters">
        <Select label="Unused for" value={String(days)} change={(d) => goQuery({ days: d === "90" ? undefined : d })}
          options={[["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["180", "180 days"], ["365", "a year"], ["0", "any time"]]} />
        <Input label="Pool" value={pool} change={(p) => goQuery({ pool: p })} />
      </div>
      {scan.error !== undefined && <Trouble error={scan.error} retry={again} />}
      <p role="status" class="note">
        {plural(scan.found.length, "unused claim")} with {formatCount(total)} addresses among {plural(scan.looked, "claim")}{scan.running ? ", still looking…" : scan.done ? "." : " so far."}{" "}
        {scan.running && <button type="button" class="quiet" onClick={halt}>Stop</button>}
        {!scan.running && !scan.done && <button type="button" class="quiet" onClick={more}>Look further</button>}
      </p>
      {oldest.length === 0 ? !scan.running && <Empty>Nothing was left unused{days > 0 ? ` for ${plural(days, "day")}` : ""}.</Empty>
        : <Found claims={oldest.slice(0, 500)} project={project} chosen={chosen} choose={setChosen} />}
      {oldest.length > 500 && <p class="note">The 500 that are unused longest are shown.</p>}
      {releasing && <ReleaseMany project={project} names={[...chosen]} close={() => setReleasing(false)} done={() => { setChosen(new Set()); again(); }} />}
    </>
  );
}

function size(claim: Claim): bigint {
  const block = parseBlock(claim.status.allocatedCIDR);
  return block ? sizeOf(block) : 0n;
}

function Found({ claims, project, chosen, choose }: { claims: Claim[]; project: string; chosen: Set<string>; choose: (chosen: Set<string>) => void }) {
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    choose(next);
  };
  const all = claims.every((claim) => chosen.has(claim.metadata.name));
  return (
    <>
      <label class="check"><input type="checkbox" checked={all} onChange={() => choose(all ? new Set() : new Set(claims.map((c) => c.metadata.name)))} /> All that are shown</label>
      <Table label="Unused claims" head={["Chosen", "Name", "Block", "Pool", "Owner", "Last change"]}>
        {claims.map((claim) => (
          <tr key={claim.metadata.uid}>
            <td><input type="checkbox" aria-label={`Choose ${claim.metadata.name}`} checked={chosen.has(claim.metadata.name)} onChange={() => toggle(claim.metadata.name)} /></td>
            <th scope="row"><Link to={to.claim(project, claim.metadata.name)}>{claim.metadata.name}</Link></th>
            <td class="mono">{claim.status.allocatedCIDR}</td>
            <td>{claim.status.poolRef.name}</td>
            <td>{claim.spec.ownerRef ? [claim.spec.ownerRef.kind, claim.spec.ownerRef.name].filter(Boolean).join("/") : claim.metadata.createdBy}
              {Object.entries(claim.metadata.labels ?? {}).slice(0, 3).map(([k, v]) => <Badge key={k}>{`${k}=${v}`}</Badge>)}</td>
            <td><When at={claim.metadata.updatedAt} /></td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** Asks the server what would be released, and releases that and nothing else. */
function ReleaseMany({ project, names, close, done }: { project: string; names: string[]; close: () => void; done: () => void }) {
  const [error, setError] = useState<unknown>();
  const [result, setResult] = useState<string>();
  const release = async () => {
    try {
      const params = { path: { project } };
      const body = { select: { names }, limit: 1000 };
      const dry = await ask(api.POST("/v1/projects/{project}/claim-releases", { params: { ...params, query: { dryRun: true } }, body }));
      if (!dry.token) throw new Error("The server did not say what would be released.");
      const answer = await ask(api.POST("/v1/projects/{project}/claim-releases", { params, body: { ...body, token: dry.token } }));
      setResult(`${plural(answer.released, "claim")} released${answer.skipped.length > 0 ? `, ${answer.skipped.length} kept: ${answer.skipped[0]!.detail}` : ""}.`);
      done();
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title={`Release ${plural(names.length, "claim")}?`} close={close}>
      {result ? <p role="status">{result}</p> : <p>Their blocks become free, at once or after a cool-down, and others may get them.</p>}
      {!result && <ul class="blocks">{names.slice(0, 12).map((n) => <li key={n}>{n}</li>)}{names.length > 12 && <li>and {names.length - 12} more</li>}</ul>}
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        {!result && <button type="button" class="danger" onClick={() => void release()}>Release {plural(names.length, "claim")}</button>}
        <button type="button" onClick={close}>{result ? "Close" : "Keep them"}</button>
      </div>
    </Dialog>
  );
}
