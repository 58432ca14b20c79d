// An address: who holds it, through which pools, and who held it before.
import { api, ask, type Allocation, type Schemas } from "../api";
import { formatSpan, formatTime } from "../format";
import { useLoad } from "../load";
import { parseBlock } from "../net/cidr";
import { getPool, ignoreGone } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { Badge, Card, Empty, Heading, Table, When } from "../ui/parts";
import { Shown } from "../ui/trouble";

type Entry = Schemas["HistoryEntry"];
interface Found { now: Entry[]; past: Entry[]; other: Allocation[]; pools: { name: string; cidr: string }[] }

async function look(project: string, address: string): Promise<Found> {
  const path = { project };
  const history = await ask(api.GET("/v1/projects/{project}/history", { params: { path, query: { address, limit: 200 } } }));
  const now = history.items.filter((entry) => entry.until === undefined);
  const past = history.items.filter((entry) => entry.until !== undefined);
  const pools = await chain(project, address, now);
  const deepest = pools.at(-1)?.name;
  const other = deepest === undefined ? { items: [] } : await ask(api.GET("/v1/projects/{project}/allocations", {
    params: { path, query: { pool: deepest, contains: address, limit: 10 } },
  }));
  return { now, past, pools, other: other.items.filter((a) => a.status.phase !== "Bound" || a.spec.purpose === "Reservation") };
}

/** The pools around the address, the outermost first. */
async function chain(project: string, address: string, now: Entry[]): Promise<Found["pools"]> {
  const deepest =
    now.find((entry) => entry.purpose === "ChildPool")?.childPoolRef?.name ??
    now.find((entry) => entry.poolRef.project === project)?.poolRef.name ??
    (await ask(api.GET("/v1/projects/{project}/pools", { params: { path: { project }, query: { contains: address, limit: 50 } } }))).items.sort(
      (a, b) => length(b.status.allocatedCIDR) - length(a.status.allocatedCIDR),
    )[0]?.metadata.name;
  const pools: Found["pools"] = [];
  let next = deepest;
  while (next !== undefined && pools.length < 32) {
    const pool = await getPool(project, next).catch(ignoreGone);
    if (pool) pools.unshift({ name: next, cidr: pool.status.allocatedCIDR });
    next = pool?.status.parentRef?.name;
  }
  return pools;
}

const length = (cidr: string) => Number(cidr.split("/")[1] ?? 128);

export function AddressPage({ project, address }: { project: string; address: string }) {
  const valid = parseBlock(address) !== undefined && !address.includes("/");
  const found = useLoad(valid ? `address:${project}:${address}` : undefined, () => look(project, address), ["IPAllocation", "IPClaim", "IPPool"]);
  if (!valid) return <><Heading title={address} /><Empty>This is no address. Write it as 10.1.2.3 or 2001:db8::1.</Empty></>;
  return (
    <>
      <Heading title={address} mono note={`As project ${project} sees it.`} />
      <Shown of={found}>
        {(data) => (
          <>
            <Holder data={data} project={project} address={address} />
            <div class="stack">
              <Card title="Pools around it"><Pools data={data} project={project} /></Card>
              <Card title="Who held it before"><Past entries={data.past} project={project} /></Card>
            </div>
          </>
        )}
      </Shown>
    </>
  );
}

function Holder({ data, project, address }: { data: Found; project: string; address: string }) {
  const claim = data.now.find((entry) => entry.purpose === "Claim");
  const other = data.other[0];
  if (claim) {
    return (
      <div class="summary holder">
        <p class="big">
          {claim.claimRef ? (
            <>
              Held by claim <Link to={to.claim(claim.claimRef.project, claim.claimRef.name)}>{claim.claimRef.name}</Link>
            </>
          ) : (
            <>
              Held by project <strong>{claim.consumer}</strong>
            </>
          )}
          {claim.phase !== "Bound" && <Badge kind="warn">{claim.phase}</Badge>}
        </p>
        <p>
          as part of <span class="mono">{claim.allocatedCIDR}</span>, of project {claim.consumer}, since {formatTime(claim.since)} (
          <When at={claim.since} />)
        </p>
      </div>
    );
  }
  if (other) {
    return (
      <div class="summary holder">
        <p class="big">
          {other.spec.purpose === "Reservation" ? "Reserved" : other.status.phase === "CoolingDown" ? "Cooling down" : other.status.phase}
        </p>
        <p>
          as part of <span class="mono">{other.status.allocatedCIDR}</span>
          {other.spec.reason && <>: {other.spec.reason}</>}
          {other.status.coolUntil && (
            <>
              , free again <When at={other.status.coolUntil} />
            </>
          )}
        </p>
      </div>
    );
  }
  const pool = data.pools.at(-1)?.name;
  if (pool === undefined)
    return (
      <div class="summary holder">
        <p class="big">In no pool of this project</p>
        <p class="note">Another project may have it; nobody without a role there sees that.</p>
      </div>
    );
  return (
    <div class="summary holder">
      <p class="big">Free</p>
      <p>
        in pool <Link to={to.pool(project, pool)}>{pool}</Link>.{" "}
        {may("consumer", project) && <Link to={`${to.newClaim(project, pool)}&cidr=${encodeURIComponent(address)}`}>Claim it</Link>}
      </p>
    </div>
  );
}

function Pools({ data, project }: { data: Found; project: string }) {
  if (data.pools.length === 0) return <Empty>None of this project.</Empty>;
  return (
    <ol class="chain">
      {data.pools.map(({ name, cidr }) => <li key={name}><Link to={to.pool(project, name)}>{name}</Link> <span class="mono note">{cidr}</span></li>)}
    </ol>
  );
}

function Past({ entries, project }: { entries: Entry[]; project: string }) {
  if (entries.length === 0) return <Empty>Nobody, as far as is recorded.</Empty>;
  return (
    <Table label="Former holders" head={["Holder", "Block", "Pool", "From", "Until", "For"]}>
      {entries.map((entry) => (
        <tr key={entry.allocation + entry.since}>
          <td>
            {entry.claimRef?.name ?? entry.childPoolRef?.name ?? "a claim"} <span class="note">{entry.consumer}</span>
            {entry.phase !== "Bound" && <Badge>{entry.phase}</Badge>}
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
