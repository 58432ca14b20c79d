// A project at a glance: what is full, what cools down, which quotas are near their limits, what has just changed.
import { useState } from "preact/hooks";
import { api, ask, type Pool, type Quota } from "../api";
import { formatSpan, plural, share } from "../format";
import { formatCount } from "../net/cidr";
import { useLoad } from "../load";
import { firstPools, rootsOf } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { loadUtilization, Spark } from "../ui/chart";
import { Bar, Card, Empty, Heading } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { Alerts, useAlerts } from "./alerts";
import { EventLine, together } from "./audit";

export function Overview({ project }: { project: string }) {
  const [roots, setRoots] = useState(500);
  const pools = useLoad(`overview:${project}:${roots}`, () => load(project, roots), ["IPPool", "IPClaim", "IPAllocation"], 5000);
  return (
    <>
      <Heading title={project}>
        {may("consumer", project) && <Link class="button primary" to={to.newClaim(project)}>Claim a block</Link>}
        {may("provider", project) && <Link class="button" to={to.newPool(project)}>New pool</Link>}
      </Heading>
      <div class="cards">
        <div class="stack">
          <Card title="Fullest pools" aside={<Link to={to.page(project, "pools")}>All pools</Link>}>
            <Shown of={pools}>{(of) => <Fullest project={project} of={of} further={() => setRoots(roots + 500)} />}</Shown>
          </Card>
          <Card title="Cooling down">
            <Shown of={pools}>{({ items }) => <Cooling project={project} pools={items} />}</Shown>
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

/** Alerts that there are now; nothing while there are none. */
function Now({ project }: { project: string }) {
  const alerts = useAlerts(project);
  const items = alerts.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <Card title={plural(items.length, "alert")} aside={<Link to={to.page(project, "alerts")}>All alerts</Link>}>
      <Alerts alerts={items.slice(0, 6)} project={project} />
    </Card>
  );
}

interface Look {
  items: Pool[];
  /** What was looked at: all pools, all that were not carved from another one, or the first of those. */
  among: "all" | "roots" | "some";
}

/** All pools of the project; where there are many, those that were not carved from another one. */
async function load(project: string, enough: number): Promise<Look> {
  const all = await firstPools(project);
  if (all.cursor === undefined) return { items: all.items, among: "all" };
  const { items, cursor } = await rootsOf(project, undefined, enough);
  return { items, among: cursor === undefined ? "roots" : "some" };
}

function Fullest({ project, of: { items, among }, further }: { project: string; of: Look; further: () => void }) {
  const fullest = [...items].sort((a, b) => b.status.utilizationPercent - a.status.utilizationPercent).slice(0, 10);
  if (fullest.length === 0) return <Start project={project} />;
  return (
    <>
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
      {among !== "all" && (
        <p class="note small">
          This project is large: these are of {among === "some" ? "the first" : "its"} {plural(items.length, "top-level pool")}
          {among === "some" && " in order of name"}.{" "}
          {among === "some" && <button type="button" class="link" onClick={further}>Look further</button>}{" "}
          <Link to={to.page(project, "alerts")}>An alert rule</Link> finds full pools wherever they are.
        </p>
      )}
    </>
  );
}

/** The last 30 days of a pool in the size of a word, and when it will be full. */
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
        const near = items
          .flatMap((q) => measures(q).map((m) => ({ ...m, quota: q.metadata.name })))
          .sort((a, b) => b.percent - a.percent)
          .slice(0, 8);
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
      {({ items }) =>
        items.length === 0 ? (
          <Empty>Nothing has changed yet.</Empty>
        ) : (
          <ul class="plain" aria-label={plural(items.length, "change")}>
            {together(items).map((events) => <EventLine key={events[0]!.id} events={events} project={project} />)}
          </ul>
        )
      }
    </Shown>
  );
}
