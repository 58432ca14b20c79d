// A project at a glance: the fullest pools, the pools that cool down, the quotas near their limits, and the latest changes.
import { useEffect, useState } from "preact/hooks";
import { api, ask, pagesOf, type Pool, type Quota, type Schemas } from "../api";
import { formatSpan, plural, share } from "../format";
import { formatCount } from "../net/cidr";
import { useLoad } from "../load";
import { division, firstPools } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { loadUtilization, Spark } from "../ui/chart";
import { Bar, Card, Empty, Heading } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { Alerts, useAlerts } from "./alerts";
import { EventLine, goneIn, together } from "./audit";

const lookAt = 5000; // pools that are examined before the user asks for more

export function Overview({ project }: { project: string }) {
  const [enough, setEnough] = useState(lookAt);
  const [large, setLarge] = useState(false);
  const pools = useLoad(`overview:${project}:${enough}`, () => load(project, enough), ["IPPool", "IPClaim", "IPAllocation"], large ? 60_000 : 5000);
  useEffect(() => setLarge((pools.data?.looked ?? 0) > 500), [pools.data]);
  return (
    <>
      <Heading title={project}>
        {may("consumer", project) && <Link class="button primary" to={to.newClaim(project)}>Claim a block</Link>}
        {may("provider", project) && <Link class="button" to={to.newPool(project)}>New pool</Link>}
      </Heading>
      <div class="cards">
        <div class="stack">
          <Card title="Fullest pools" aside={<Link to={to.page(project, "pools")}>All pools</Link>}>
            <Shown of={pools}>{(of) => <Fullest project={project} of={of} further={() => setEnough(enough + lookAt)} busy={pools.loading} />}</Shown>
          </Card>
          <Card title="Cooling down">
            <Shown of={pools}>{(of) => <Cooling project={project} of={of} />}</Shown>
          </Card>
        </div>
        <div class="stack">
          <Now project={project} />
          <Card title="Quotas" aside={<Link to={to.page(project, "quotas")}>All quotas</Link>}><Quotas project={project} /></Card>
          {may("admin", project) && (
            <Card title="Latest changes" aside={<Link to={to.page(project, "audit")}>Audit trail</Link>}><Latest project={project} /></Card>
          )}
        </div>
      </div>
    </>
  );
}

/** Shows the current alerts, and nothing if there are none. */
function Now({ project }: { project: string }) {
  const alerts = useAlerts(project);
  const { items = [], cursor } = alerts.data ?? {};
  if (items.length === 0) return null;
  const shown = items.slice(0, 6);
  return (
    <Card title={cursor ? `More than ${plural(items.length, "alert")}` : plural(items.length, "alert")} aside={<Link to={to.page(project, "alerts")}>All alerts</Link>}>
      <Alerts alerts={shown} project={project} />
      {items.length > shown.length && <p class="note small">The first {shown.length}.</p>}
    </Card>
  );
}

interface Look {
  /** The fullest pools that have no child pools, fullest first. */
  fullest: Pool[];
  cooling: Pool[];
  /** The number of pools with blocks in cool-down, including those that are not shown. */
  coolingInAll: number;
  looked: number;
  /** Every pool of the project was examined. */
  all: boolean;
}

const shownAtMost = 10;

/** Examines the pools in name order. It leaves out pools that are divided among child pools, because the child pools show their use. */
async function load(project: string, enough: number): Promise<Look> {
  const { items, cursor } = await firstPools(project, enough);
  const parents = new Set(items.map((pool) => pool.status.parentRef?.name));
  const used = items.filter((pool) => !parents.has(pool.metadata.name) && pool.status.utilizationPercent > 0)
    .sort((a, b) => b.status.utilizationPercent - a.status.utilizationPercent);
  const fullest: Pool[] = [];
  for (const pool of used) {
    if (fullest.length === shownAtMost) break;
    // If not all pools were examined, the child pools of this one may be among the others.
    if (cursor === undefined || await division(project, pool) !== "divided") fullest.push(pool);
  }
  const cooling = items.filter((pool) => pool.status.capacity.coolingDown !== "0").sort((a, b) => part(b) - part(a));
  return { fullest, cooling: cooling.slice(0, shownAtMost), coolingInAll: cooling.length, looked: items.length, all: cursor === undefined };
}

type FullestProps = { project: string; of: Look; further: () => void; busy: boolean };

function Fullest({ project, of: { fullest, looked, all }, further, busy }: FullestProps) {
  if (looked === 0) return <Start project={project} />;
  return (
    <>
      {fullest.length === 0 && <Empty>Nothing is used yet.</Empty>}
      <ul class="plain">
        {fullest.map((pool) => (
          <li key={pool.metadata.uid} class="line">
            <span class="pool">
              <Link class="strong" to={to.pool(project, pool.metadata.name)}>{pool.metadata.name}</Link>
              <span class="mono note">{pool.status.allocatedCIDR}</span>
            </span>
            <Lately project={project} pool={pool.metadata.name} />
            <Bar percent={pool.status.utilizationPercent} label={pool.metadata.name} />
          </li>
        ))}
      </ul>
      <p class="note small">
        {all ? `Of all ${plural(looked, "pool")}` : `Of the first ${plural(looked, "pool")} in order of name`}, without pools that are divided among child pools.
        {!all && <>{" "}<button type="button" class="link" disabled={busy} onClick={further}>Look at more</button></>}
      </p>
    </>
  );
}

/** Shows the last 30 days of a pool in the size of a word, and when the pool will be full. */
function Lately({ project, pool }: { project: string; pool: string }) {
  const used = useLoad(`lately:${project}:${pool}`, (stop) => loadUtilization(project, pool, 30, 30, stop));
  if (!used.data || used.data.points.length < 2) return null;
  const { runway } = used.data;
  return (
    <Link class="lately" to={to.pool(project, pool, "?tab=history")}>
      {runway && <span class="runway">full in {formatSpan(new Date(runway.runsOutAt).getTime() - Date.now())}</span>}
      <Spark of={used.data} label={pool} />
    </Link>
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

function Cooling({ project, of: { cooling, coolingInAll, all, looked } }: { project: string; of: Look }) {
  if (cooling.length === 0) return <Empty>Nothing is cooling down{!all && ` in the first ${plural(looked, "pool")}`}.</Empty>;
  return (
    <>
      <ul class="plain">
        {cooling.map((pool) => (
          <li key={pool.metadata.uid} class="line">
            <Link class="strong" to={to.pool(project, pool.metadata.name, "?tab=claims")}>{pool.metadata.name}</Link>
            <span class="note">{formatCount(pool.status.capacity.coolingDown)} addresses</span>
          </li>
        ))}
      </ul>
      {coolingInAll > cooling.length && <p class="note small">The {cooling.length} pools with the largest share of {coolingInAll}.</p>}
    </>
  );
}

const part = (pool: Pool) => share(pool.status.capacity.coolingDown, pool.status.capacity.total);

/** Returns the limits of a quota with their use. */
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
    params: { path: { project }, query: { limit: 500 } },
  })), ["Quota", "IPClaim", "IPPool"]);
  return (
    <Shown of={quotas}>
      {({ items }) => {
        const limits = items
          .flatMap((q) => measures(q).map((m) => ({ ...m, quota: q.metadata.name })))
          .sort((a, b) => b.percent - a.percent);
        const near = limits.slice(0, 8);
        if (near.length === 0) return <Empty>No quota limits this project.</Empty>;
        return (
          <>
            <ul class="plain">
              {near.map((m) => (
                <li key={m.quota + m.name} class="line">
                  <span class="strong">{m.quota}</span>
                  <span class="note">{formatCount(m.used)} of {formatCount(m.limit)} {m.name}</span>
                  <Bar percent={m.percent} label={`${m.quota}, ${m.name}`} />
                </li>
              ))}
            </ul>
            {limits.length > near.length && <p class="note small">The {near.length} nearest to their limits of {limits.length}.</p>}
          </>
        );
      }}
    </Shown>
  );
}

const trailPages = 4; // pages that are read to find changes by people and programs

/** Loads the latest changes without those of alerts, which have their own card. */
const loadLatest = async (project: string) => {
  const { items } = await pagesOf<Schemas["AuditEvent"]>(async (cursor) => {
    const page = await ask(api.GET("/v1/projects/{project}/audit-events", {
      params: { path: { project }, query: { limit: 50, ...(cursor ? { cursor } : {}) } },
    }));
    return { ...page, items: page.items.filter((event) => event.resource.kind !== "Alert") };
  }, 10, undefined, trailPages);
  return together(items).slice(0, shownAtMost);
};

function Latest({ project }: { project: string }) {
  const latest = useLoad(`latest:${project}`, () => loadLatest(project), ["IPPool", "IPClaim", "IPClass", "Quota", "IPAllocation"]);
  return (
    <Shown of={latest}>
      {(groups) =>
        groups.length === 0 ? (
          <Empty>Nothing has changed lately.</Empty>
        ) : (
          <ul class="plain" aria-label={plural(groups.length, "change")}>
            {groups.map((events) => <EventLine key={events[0]!.id} events={events} project={project} gone={goneIn(groups.flat(), events[0]!)} />)}
          </ul>
        )
      }
    </Shown>
  );
}
