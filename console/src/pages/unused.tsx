// Claims that are old and have no consumer, to be reviewed and released.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, type Claim } from "../api";
import { day, plural } from "../format";
import { formatCount, parseBlock, sizeOf } from "../net/cidr";
import { useCalm } from "../load";
import { goQuery, Link, query, to } from "../router";
import { may } from "../session";
import { Dialog, Empty, Heading, Input, LabelList, Select, Table, When } from "../ui/parts";
import { Trouble } from "../ui/trouble";

const batch = 50_000; // claims that are examined before the user is asked to continue
const most = 500; // claims that are kept and shown

interface Scan {
  looked: number;
  count: number;
  addresses: bigint;
  /** The claims that have not changed for the longest time, in this order. */
  found: Claim[];
  /** The unused claim that has not changed for the longest time. */
  oldest?: Claim | undefined;
  cursor?: string | undefined;
  done: boolean;
  running: boolean;
  error?: unknown;
}
const fresh: Scan = { looked: 0, count: 0, addresses: 0n, found: [], done: false, running: false };

const changed = (claim: Claim) => new Date(claim.metadata.updatedAt).getTime();
const older = (a: Claim | undefined, b: Claim) => (a && changed(a) <= changed(b) ? a : b);

/** Adds the unused claims of a page to a scan. */
function add(scan: Scan, { items, nextCursor }: { items: Claim[]; nextCursor?: string }, before: number): Scan {
  const idle = items.filter((claim) => (claim.status.consumers ?? 0) === 0);
  const unused = idle.filter((claim) => changed(claim) <= before);
  return {
    ...scan,
    looked: scan.looked + items.length,
    count: scan.count + unused.length,
    addresses: unused.reduce((sum, claim) => sum + size(claim), scan.addresses),
    found: unused.length === 0 ? scan.found : scan.found.concat(unused).sort((a, b) => changed(a) - changed(b)).slice(0, most),
    oldest: idle.reduce(older, scan.oldest),
    cursor: nextCursor,
    done: nextCursor === undefined,
  };
}

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
        const page = await ask(
          api.GET("/v1/projects/{project}/claims", {
            params: { path: { project }, query: { limit: 500, ...(pool ? { pool } : {}), ...(state.cursor ? { cursor: state.cursor } : {}) } },
            signal: own.signal,
          }),
        );
        state = add(state, page, before);
        setScan(state);
      }
      setScan({ ...state, running: false });
    } catch (error) {
      if (!own.signal.aborted) setScan({ ...state, running: false, error });
    }
  };
  useEffect(() => {
    void go(fresh);
    return () => stop.current?.abort();
  }, [project, days, pool]);
  return {
    scan,
    more: () => void go(scan),
    again: () => void go(fresh),
    halt: () => {
      stop.current?.abort();
      setScan({ ...scan, running: false });
    },
  };
}

export function UnusedPage({ project }: { project: string }) {
  const days = Number(query.value.get("days") ?? 90);
  const pool = useCalm(query.value.get("pool") ?? "", 400);
  const { scan, more, again, halt } = useScan(project, days, pool);
  const [chosen, setChosen] = useState(new Set<string>());
  const [releasing, setReleasing] = useState(false);
  return (
    <>
      <Heading
        title="Unused"
        note={"Claims without a consumer that have not changed for a while: no machine or service has reported to Carve that it uses them. "
          + "Carve does not see traffic, so ask their owners before you release them."}>
        {may("consumer", project) && chosen.size > 0 && (
          <button type="button" class="danger" onClick={() => setReleasing(true)}>
            Release {plural(chosen.size, "claim")}…
          </button>
        )}
      </Heading>
      <div class="filters">
        <Select label="Unused for" value={String(days)} change={(d) => goQuery({ days: d === "90" ? undefined : d })}
          options={[["7", "7 days"], ["30", "30 days"], ["90", "90 days"], ["180", "180 days"], ["365", "a year"], ["0", "any time"]]} />
        <Input label="Pool" value={query.value.get("pool") ?? ""} change={(p) => goQuery({ pool: p })} />
      </div>
      {scan.error !== undefined && <Trouble error={scan.error} retry={again} />}
      <p role="status" class="note">
        {plural(scan.count, "unused claim")} with {formatCount(scan.addresses)} addresses among {plural(scan.looked, "claim")}
        {scan.running ? ", still looking…" : scan.done ? "." : " so far."}{" "}
        {scan.running && (
          <button type="button" class="quiet" onClick={halt}>
            Stop
          </button>
        )}
        {!scan.running && !scan.done && (
          <button type="button" onClick={more}>
            Look further
          </button>
        )}
      </p>
      {scan.count === 0 ? !scan.running && <None scan={scan} days={days} project={project} />
        : <Found claims={scan.found} project={project} chosen={chosen} choose={setChosen} />}
      {scan.count > most && <p class="note">The page shows the {most} claims with the oldest changes.</p>}
      {releasing && (
        <ReleaseMany
          project={project}
          names={[...chosen]}
          close={() => setReleasing(false)}
          done={() => {
            setChosen(new Set());
            again();
          }}
        />
      )}
    </>
  );
}

/** Shows that nothing was found, with the oldest unused claim and how to see it. */
function None({ scan: { looked, done, oldest }, days, project }: { scan: Scan; days: number; project: string }) {
  return (
    <Empty>
      <p>
        {done ? "No claim was unused" : `Of ${plural(looked, "claim")} none was unused`}{days > 0 && ` for ${plural(days, "day")}`}.
      </p>
      {oldest && (
        <p>
          Among the claims without a consumer, <Link to={to.claim(project, oldest.metadata.name)}>{oldest.metadata.name}</Link> has
          the oldest change: <When at={oldest.metadata.updatedAt} />.{" "}
          <button type="button" class="link" onClick={() => goQuery({ days: "0" })}>Show all of them</button>
        </p>
      )}
    </Empty>
  );
}

function size(claim: Claim): bigint {
  const block = parseBlock(claim.status.allocatedCIDR);
  return block ? sizeOf(block) : 0n;
}

function Found({
  claims,
  project,
  chosen,
  choose,
}: {
  claims: Claim[];
  project: string;
  chosen: Set<string>;
  choose: (chosen: Set<string>) => void;
}) {
  const toggle = (name: string) => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    choose(next);
  };
  const all = claims.every((claim) => chosen.has(claim.metadata.name));
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={all} onChange={() => choose(all ? new Set() : new Set(claims.map((c) => c.metadata.name)))} /> All shown
        claims
      </label>
      <Table label="Unused claims" head={["Chosen", "Name", "Block", "Pool", "Owner", "Last change"]}>
        {claims.map((claim) => (
          <tr key={claim.metadata.uid}>
            <td>
              <input
                type="checkbox"
                aria-label={`Choose ${claim.metadata.name}`}
                checked={chosen.has(claim.metadata.name)}
                onChange={() => toggle(claim.metadata.name)}
              />
            </td>
            <th scope="row">
              <Link to={to.claim(project, claim.metadata.name)}>{claim.metadata.name}</Link>
            </th>
            <td class="mono">{claim.status.allocatedCIDR}</td>
            <td>{claim.status.poolRef.name}</td>
            <td>{claim.spec.ownerRef ? [claim.spec.ownerRef.kind, claim.spec.ownerRef.name].filter(Boolean).join("/") : claim.metadata.createdBy}
              {" "}<LabelList labels={claim.metadata.labels} most={3} /></td>
            <td><When at={claim.metadata.updatedAt} /></td>
          </tr>
        ))}
      </Table>
    </>
  );
}

interface Progress { released: number; gone: number; kept: string[]; over: boolean }

/** Asks the server which claims it would release, and releases only those. After an interruption it asks again and continues with the rest. */
function ReleaseMany({ project, names, close, done }: { project: string; names: string[]; close: () => void; done: () => void }) {
  const [asked] = useState(names); // the list behind the dialog changes
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [so, setSo] = useState<Progress>({ released: 0, gone: 0, kept: [], over: false });
  const release = async () => {
    setBusy(true);
    setError(undefined);
    let sum: Progress = { ...so, gone: 0, kept: [] };
    try {
      const params = { path: { project } };
      const body = { select: { names: asked }, limit: 1000 };
      const dry = await ask(api.POST("/v1/projects/{project}/claim-releases", { params: { ...params, query: { dryRun: true } }, body }));
      if (!dry.token && (dry.count ?? 0) > 0) throw new Error("The server did not list the claims that it would release.");
      let cursor: string | undefined;
      while (dry.token && !sum.over) {
        const answer = await ask(api.POST("/v1/projects/{project}/claim-releases", {
          params, body: { ...body, token: dry.token, ...(cursor ? { cursor } : {}) },
        }));
        cursor = answer.nextCursor;
        const kept = answer.skipped.map((each) => `${each.name}: ${each.detail}`);
        sum = { released: sum.released + answer.released, gone: sum.gone + answer.gone, kept: [...sum.kept, ...kept], over: cursor === undefined };
        setSo(sum);
      }
      setSo({ ...sum, over: true });
      done();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const rest = asked.length - so.released - so.kept.length;
  return (
    <Dialog title={`Release ${plural(asked.length, "claim")}?`} close={close}>
      {so.over || so.released > 0 ? (
        <p role="status">
          {plural(so.released, "claim")} released.{so.over && rest > 0 && ` ${plural(rest, "claim")} had been released before.`}
        </p>
      ) : <p>Their blocks become free, immediately or after a cool-down, and other claims can get them.</p>}
      {so.kept.length > 0 && <><p>{plural(so.kept.length, "claim")} kept:</p><ul class="blocks">{so.kept.slice(0, 12).map((each) => <li key={each}>{each}</li>)}</ul></>}
      {so.kept.length > 12 && <p class="note">and {so.kept.length - 12} more</p>}
      {!so.over && (
        <ul class="blocks">
          {asked.slice(0, 12).map((n) => (
            <li key={n}>{n}</li>
          ))}
          {asked.length > 12 && <li>and {asked.length - 12} more</li>}
        </ul>
      )}
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        {!so.over && <button type="button" class="danger" disabled={busy} onClick={() => void release()}>{busy ? "Releasing…" : so.released > 0 ? "Continue" : `Release ${plural(asked.length, "claim")}`}</button>}
        <button type="button" autofocus onClick={() => { if (so.released > 0 && !so.over) done(); close(); }}>{so.over || so.released > 0 ? "Close" : "Keep them"}</button>
      </div>
    </Dialog>
  );
}
