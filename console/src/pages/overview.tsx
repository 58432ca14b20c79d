// A project at a glance: what is full, what cools down, which quotas are near their limits, what has just changed.
import { api, ask, type Pool, type Quota } from "../api";
import { plural, share } from "../format";
import { formatCount } from "../net/cidr";
import { useLoad } from "../load";
import { firstPools } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { Bar, Card, Empty, Heading } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { EventLine } from "./audit";

export function Overview({ project }: { project: string }) {
  const pools = useLoad(`first-pools:${project}`, () => firstPools(project), ["IPPool", "IPClaim", "IPAllocation"]);
  return (
    <>
      <Heading title={project}>
        {may("consumer", project) && <Link class="button primary" to={to.newClaim(project)}>Claim a block</Link>}
        {may("provider", project) && <Link class="button" to={to.newPool(project)}>New pool</Link>}
      </Heading>
      <div class="cards">
        <div class="stack">
          <Card title="Fullest pools" aside={<Link to={to.page(project, "pools")}>All pools</Link>}>
            <Shown of={pools}>{({ items, cursor }) => <Fullest project={project} pools={items} partial={cursor !== undefined} />}</Shown>
          </Card>
          <Card title="Cooling down">
            <Shown of={pools}>{({ items }) => <Cooling project={project} pools={items} />}</Shown>
          </Card>
        </div>
        <div class="stack">
          <Card title="Quotas" aside={<Link to={to.page(project, "quotas")}>All quotas</Link>}><Quotas project={project} /></Card>
          {may("admin", project) && (
            <Card title="Latest changes" aside={<Link to={to.page(project, "audit")}>Audit trail</Link>}><Latest project={project} /></Card>
          )}
        </div>
      </div>
    </>
  );
}

function Fullest({ project, pools, partial }: { project: string; pools: Pool[]; partial: boolean }) {
  const fullest = [...pools].sort((a, b) => b.status.utilizationPercent - a.status.utilizationPercent).slice(0, 10);
  if (fullest.length === 0) return <Start project={project} />;
  return (
    <>
      <ul class="plain">
        {fullest.map((pool) => (
          <li key={pool.metadata.uid} class="line">
            <Link class="strong" to={to.pool(project, pool.metadata.name)}>{pool.metadata.name}</Link>
            <span class="mono note">{pool.status.allocatedCIDR}</span>
            <Bar percent={pool.status.utilizationPercent} label={pool.metadata.name} />
          </li>
        ))}
      </ul>
      {partial && <p class="note small">Of the first {pools.length.toLocaleString("en")} pools in order of name.</p>}
    </>
  );
}

function Start({ project }: { project: string }) {
  return (
    <Empty>
      <p>There are no pools yet. A pool is a block from which others are carved.</p>
      {may("provider", project) && <Link class="button primary" to={to.newPool(project)}>Create the first pool</Link>}
    </Empty>
  );
}

function Cooling({ project, pools }: { project: string; pools: Pool[] }) {
  const cooling = pools.filter((pool) => pool.status.capacity.coolingDown !== "0").sort((a, b) => part(b) - part(a)).slice(0, 10);
  if (cooling.length === 0) return <Empty>Nothing is cooling down.</Empty>;
  return (
    <ul class="plain">
      {cooling.map((pool) => (
        <li key={pool.metadata.uid} class="line">
          <Link class="strong" to={to.pool(project, pool.metadata.name, "?tab=claims")}>{pool.metadata.name}</Link>
          <span class="note">{formatCount(pool.status.capacity.coolingDown)} addresses</span>
        </li>
      ))}
    </ul>
  );
}

const part = (pool: Pool) => share(pool.status.capacity.coolingDown, pool.status.capacity.total);

/** What a quota bounds, how much is used, and how near that is to the limit. */
export function measures(quota: Quota): { name: string; used: string; limit: string; percent: number }[] {
  const { limits } = quota.spec;
  return (["addresses", "claims", "pools"] as const).flatMap((name) => {
    const limit = limits[name];
    if (limit === undefined) return [];
    const used = quota.status.used[name];
    return [{ name, used: String(used), limit: String(limit), percent: share(used, limit) }];
  });
}

function Quotas({ project }: { project: string }) {
  const quotas = useLoad(`quotas:${project}`, () => ask(api.GET("/v1/projects/{project}/quotas", {
    params: { path: { project }, query: { limit: 100 } },
  })), ["Quota", "IPClaim", "IPPool"]);
  return (
    <Shown of={quotas}>
      {({ items }) => {
        const near = items.flatMap((q) => measures(q).map((m) => ({ ...m, quota: q.metadata.name }))).sort((a, b) => b.percent - a.percent).slice(0, 8);
        if (near.length === 0) return <Empty>No quota bounds this project.</Empty>;
        return (
          <ul class="plain">
            {near.map((m) => (
              <li key={m.quota + m.name} class="line">
                <span class="strong">{m.quota}</span>
                <span class="note">{formatCount(m.used)} of {formatCount(m.limit)} {m.name}</span>
                <Bar percent={m.percent} label={`${m.quota}, ${m.name}`} />
              </li>
            ))}
          </ul>
        );
      }}
    </Shown>
  );
}

function Latest({ project }: { project: string }) {
  const events = useLoad(`latest:${project}`, () => ask(api.GET("/v1/projects/{project}/audit-events", {
    params: { path: { project }, query: { limit: 10 } },
  })), ["IPPool", "IPClaim", "IPClass", "Quota", "IPAllocation"]);
  return (
    <Shown of={events}>
      {({ items }) => items.length === 0 ? <Empty>Nothing has changed yet.</Empty>
        : <ul class="plain" aria-label={plural(items.length, "change")}>{items.map((event) => <EventLine key={event.id} event={event} project={project} />)}</ul>}
    </Shown>
  );
}
