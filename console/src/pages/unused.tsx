// Claims that are old and have no consumer, to be reviewed and released.
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, asSeen, isGone, Refused, type Claim } from "../api";
import { day, plural } from "../format";
import { formatCount, parseBlock, sizeOf } from "../net/cidr";
import { useCalm } from "../load";
import { each } from "../pools";
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
const uidsOf = (claims: Claim[]) => new Set(claims.map((claim) => claim.metadata.uid));
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
    setScan(state); // another list replaces the one on the screen
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
  const [marked, setMarked] = useState(new Set<string>());
  const chosen = scan.found.filter((claim) => marked.has(claim.metadata.uid));
  // Forget what the list does not show any more.
  useEffect(() => { if (!scan.running && chosen.length < marked.size) setMarked(uidsOf(chosen)); }, [scan]);
  const [releasing, setReleasing] = useState(false);
  return (
    <>
      <Heading
        title="Unused"
        note={"Claims without a consumer that have not changed for a while: no machine or service has reported to Carve that it uses them. "
          + "Carve does not see traffic, so ask their owners before you release them."}>
        {may("consumer", project) && chosen.length > 0 && (
          <button type="button" class="danger" onClick={() => setReleasing(true)}>
            Release {plural(chosen.length, "claim")}…
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
        : <Found claims={scan.found} project={project} chosen={marked} choose={setMarked} />}
      {scan.count > most && <p class="note">The page shows the {most} claims with the oldest changes.</p>}
      {releasing && (
        <ReleaseMany
          project={project}
          claims={chosen}
          close={() => setReleasing(false)}
          done={() => {
            setMarked(new Set());
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
  const toggle = (uid: string) => {
    const next = new Set(chosen);
    if (!next.delete(uid)) next.add(uid);
    choose(next);
  };
  const all = claims.every((claim) => chosen.has(claim.metadata.uid));
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={all} onChange={() => choose(all ? new Set() : uidsOf(claims))} /> All shown claims
      </label>
      <Table label="Unused claims" head={["Chosen", "Name", "Block", "Pool", "Owner", "Last change"]}>
        {claims.map((claim) => (
          <tr key={claim.metadata.uid}>
            <td>
              <input
                type="checkbox"
                aria-label={`Choose ${claim.metadata.name}`}
                checked={chosen.has(claim.metadata.uid)}
                onChange={() => toggle(claim.metadata.uid)}
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

/** Releases a claim as the page showed it. Returns the reason if the server keeps it, and whether it was gone already. */
async function release(project: string, claim: Claim): Promise<End> {
  try {
    await ask(api.DELETE("/v1/projects/{project}/claims/{claim}", { params: { path: { project, claim: claim.metadata.name }, header: asSeen(claim) } }));
    return {};
  } catch (cause) {
    if (isGone(cause)) return { gone: true };
    if (!(cause instanceof Refused) || ![409, 412].includes(cause.problem.status)) throw cause;
    return { kept: cause.problem.status === 412 ? "It has changed since this page showed it." : cause.problem.detail };
  }
}

interface End { gone?: boolean; kept?: string }

/** Releases claims one by one, and skips those that have changed. After an interruption it continues with the rest. */
function ReleaseMany({ project, claims, close, done }: { project: string; claims: Claim[]; close: () => void; done: () => void }) {
  const [asked] = useState(claims); // the list behind the dialog changes
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [ends, setEnds] = useState(new Map<Claim, End>());
  const releaseAll = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await each(asked.filter((claim) => !ends.has(claim)), async (claim) => {
        const end = await release(project, claim);
        setEnds((was) => new Map(was).set(claim, end));
      });
      done();
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  const over = ends.size === asked.length;
  const gone = [...ends.values()].filter((end) => end.gone).length;
  const kept = [...ends].flatMap(([claim, end]) => (end.kept ? [`${claim.metadata.name}: ${end.kept}`] : []));
  const released = ends.size - gone - kept.length;
  return (
    <Dialog title={`Release ${plural(asked.length, "claim")}?`} close={close}>
      {ends.size > 0 ? (
        <p role="status">
          {plural(released, "claim")} released.{gone > 0 && ` ${plural(gone, "claim")} had been released before.`}
        </p>
      ) : <p>Their blocks become free, immediately or after a cool-down, and other claims can get them.</p>}
      {kept.length > 0 && <><p>{plural(kept.length, "claim")} kept:</p><ul class="blocks">{kept.slice(0, 12).map((each) => <li key={each}>{each}</li>)}</ul></>}
      {kept.length > 12 && <p class="note">and {kept.length - 12} more</p>}
      {!over && (
        <ul class="blocks">
          {asked.slice(0, 12).map(({ metadata }) => <li key={metadata.uid}>{metadata.name}</li>)}
          {asked.length > 12 && <li>and {asked.length - 12} more</li>}
        </ul>
      )}
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        {!over && <button type="button" class="danger" disabled={busy} onClick={() => void releaseAll()}>{busy ? "Releasing…" : ends.size > 0 ? "Continue" : `Release ${plural(asked.length, "claim")}`}</button>}
        <button type="button" autofocus onClick={() => { if (ends.size > 0 && !over) done(); close(); }}>{ends.size > 0 ? "Close" : "Keep them"}</button>
      </div>
    </Dialog>
  );
}
