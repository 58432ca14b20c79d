// An address: each space in which the project has it, with its holder and pools there, and its former holders.
import { useState } from "preact/hooks";
import { api, ask, pagesOf, type Allocation, type Schemas } from "../api";
import { formatSpan, formatTime } from "../format";
import { useLoad } from "../load";
import { parseBlock } from "../net/cidr";
import { each, refText } from "../pools";
import { Link, to } from "../router";
import { searchFor, type Hit } from "../search";
import { may } from "../session";
import { Badge, Card, Empty, Heading, Table, When } from "../ui/parts";
import { Shown } from "../ui/trouble";

type Entry = Schemas["HistoryEntry"];
type Ref = Schemas["ResolvedRef"];

/** One space with the address: the pools around it, outermost first, and the block in the innermost pool that holds it. */
interface Place { space: Ref; pools: Hit[]; held?: Allocation | undefined }
interface Found { places: Place[]; foreign: Entry[]; past: Entry[]; more: boolean; partial: boolean }

const mostPools = 100;

async function look(project: string, address: string, enough: number, signal: AbortSignal): Promise<Found> {
  const [around, history] = await Promise.all([
    searchFor(`${project}/${address}`, { kind: "IPPool", limit: mostPools, signal }),
    pagesOf<Entry>((cursor) => ask(api.GET("/v1/projects/{project}/history", {
      params: { path: { project }, query: { address, limit: 200, ...(cursor ? { cursor } : {}) } }, signal,
    })), enough),
  ]);
  const now = history.items.filter((entry) => entry.until === undefined);
  return {
    places: await each(bySpace(around.items), async (place) => ({ ...place, held: await holderIn(project, place.pools.at(-1)!.name, address, signal) })),
    foreign: now.filter((entry) => entry.poolRef.project !== project),
    past: history.items.filter((entry) => entry.until !== undefined),
    more: history.cursor !== undefined,
    partial: around.truncated,
  };
}

/** Groups the pools around an address by space. In one space they are nested. */
function bySpace(pools: Hit[]): Place[] {
  const places = new Map<string, Place>();
  for (const pool of pools) {
    const space = pool.spaceRef!;
    const key = `${space.project}/${space.name}`;
    const place = places.get(key) ?? { space, pools: [] };
    place.pools.push(pool);
    places.set(key, place);
  }
  for (const { pools } of places.values()) pools.sort((a, b) => lengthOf(a.cidr!) - lengthOf(b.cidr!));
  return [...places.values()].sort((a, b) => refText("", a.space).localeCompare(refText("", b.space)));
}

const lengthOf = (cidr: string) => Number(cidr.split("/")[1]);

/** Returns the block of this pool that holds the address. A child pool is not a holder but the next pool around the address. */
async function holderIn(project: string, pool: string, address: string, signal: AbortSignal): Promise<Allocation | undefined> {
  const { items } = await ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path: { project }, query: { pool, contains: address, limit: 10 } }, signal,
  }));
  return items.find((item) => item.spec.purpose !== "ChildPool");
}

export function AddressPage({ project, address }: { project: string; address: string }) {
  const [enough, setEnough] = useState(200);
  const valid = parseBlock(address) !== undefined && !address.includes("/");
  const found = useLoad(valid ? `address:${project}:${address}:${enough}` : undefined, (stop) => look(project, address, enough, stop),
    ["IPAllocation", "IPClaim", "IPPool"]);
  if (!valid) return <><Heading title={address} /><Empty>This is not an address. Write it as 10.1.2.3 or 2001:db8::1.</Empty></>;
  return (
    <>
      <Heading title={address} mono note={`As project ${project} sees it.`} />
      <Shown of={found}>
        {(data) => (
          <div class="stack">
            {data.places.map((place) => <InSpace key={refText("", place.space)} place={place} project={project} address={address} />)}
            {data.foreign.map((entry) => <Foreign key={entry.allocation} entry={entry} />)}
            {data.places.length + data.foreign.length === 0 && (
              <Card title="In no pool of this project">
                <p class="note">Another project may have it. Only members of that project can see that.</p>
              </Card>
            )}
            {data.partial && <p class="note">Only the {mostPools} smallest pools around this address are shown.</p>}
            <Card title="Former holders">
              <Past data={data} project={project} />
              {data.more && <button type="button" onClick={() => setEnough(enough + 400)}>Show older ones</button>}
            </Card>
          </div>
        )}
      </Shown>
    </>
  );
}

function InSpace({ place, project, address }: { place: Place; project: string; address: string }) {
  return (
    <Card title={`Space ${refText(project, place.space)}`}>
      <Holder place={place} project={project} address={address} />
      <h3 class="under-holder">Pools around it</h3>
      <ol class="chain" aria-label={`Pools of space ${refText(project, place.space)} around ${address}`}>
        {place.pools.map(({ name, cidr }) => <li key={name}><Link to={to.pool(project, name)}>{name}</Link> <span class="mono note">{cidr}</span></li>)}
      </ol>
    </Card>
  );
}

function Holder({ place: { held, pools }, project, address }: { place: Place; project: string; address: string }) {
  const pool = pools.at(-1)!.name;
  if (!held) {
    return (
      <>
        <p class="big">Free</p>
        <p>
          in pool <Link to={to.pool(project, pool)}>{pool}</Link>.{" "}
          {may("consumer", project) && <Link to={`${to.newClaim(project, pool)}&cidr=${encodeURIComponent(address)}`}>Claim it</Link>}
        </p>
      </>
    );
  }
  const { spec, status, metadata } = held;
  return (
    <>
      <p class="big"><HeldBy held={held} /></p>
      <p>
        as part of <span class="mono">{status.allocatedCIDR}</span>
        {spec.consumer && `, of project ${spec.consumer}`}
        {spec.reason && `: ${spec.reason}`}
        {status.coolUntil ? <>, free again <When at={status.coolUntil} /></> : <>, since {formatTime(metadata.createdAt)} (<When at={metadata.createdAt} />)</>}
      </p>
    </>
  );
}

function HeldBy({ held: { spec, status } }: { held: Allocation }) {
  if (spec.purpose === "Reservation") return <>Reserved</>;
  if (status.phase === "CoolingDown") return <>Cooling down</>;
  const claim = spec.claimRef;
  if (status.phase === "Retained") return <>Retained{claim && ` after claim ${claim.name} was released`}</>;
  return claim ? <>Held by claim <Link to={to.claim(claim.project, claim.name)}>{claim.name}</Link></> : <>Held by project <strong>{spec.consumer}</strong></>;
}

/** Shows the block that this project holds in a pool of another project. */
function Foreign({ entry }: { entry: Entry }) {
  const claim = entry.claimRef;
  return (
    <Card title={`Pool ${entry.poolRef.project}/${entry.poolRef.name}`}>
      <p class="big">
        {claim && entry.phase === "Bound" ? <>Held by claim <Link to={to.claim(claim.project, claim.name)}>{claim.name}</Link></> : <>{entry.phase} for project {entry.consumer}</>}
      </p>
      <p>as part of <span class="mono">{entry.allocatedCIDR}</span>, since {formatTime(entry.since)} (<When at={entry.since} />)</p>
    </Card>
  );
}

function Past({ data: { past, more }, project }: { data: Found; project: string }) {
  if (past.length === 0) return <Empty>{more ? "None in the loaded part of the history." : "No earlier holder in a pool of this project is recorded."}</Empty>;
  return (
    <Table label="Former holders" head={["Holder", "Block", "Pool", "From", "Until", "For"]}>
      {past.map((entry) => (
        <tr key={entry.allocation + entry.since}>
          <td>
            {entry.claimRef?.name ?? entry.childPoolRef?.name ?? "a claim"} <span class="note">{entry.consumer}</span>
            {entry.phase !== "Bound" && <> <Badge>{entry.phase}</Badge></>}
          </td>
          <td class="mono">{entry.allocatedCIDR}</td>
          <td><Link to={to.pool(project, entry.poolRef.name)}>{entry.poolRef.name}</Link></td>
          <td>{formatTime(entry.since)}</td>
          <td>{formatTime(entry.until!)}</td>
          <td>{formatSpan(new Date(entry.until!).getTime() - new Date(entry.since).getTime())}</td>
        </tr>
      ))}
    </Table>
  );
}
