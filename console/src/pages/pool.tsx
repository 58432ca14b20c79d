// A pool: what it is, what is in it, what is free, and why it is full.
import { useState } from "preact/hooks";
import { api, ask, asSeen, type Pool } from "../api";
import { formatCount, formatCIDR, parseBlock } from "../net/cidr";
import { plural } from "../format";
import { useLoad } from "../load";
import { childrenOf, getPool } from "../pools";
import { go, goQuery, Link, query, to } from "../router";
import { may } from "../session";
import { BlockMap } from "../ui/block-map";
import { Badge, Bar, Dialog, Empty, Facts, Heading, Panel, Table, Tabs, When } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";
import { PoolClaims } from "./pool-claims";
import { PoolHistory } from "./pool-history";
import { PoolWhy } from "./pool-why";

const tabs: [string, string][] = [
  ["map", "Map"],
  ["free", "Free space"],
  ["claims", "Held blocks"],
  ["children", "Child pools"],
  ["why", "Why is it full?"], ["history", "Over time"],
  ["about", "About"],
];

export function PoolPage({ project, name }: { project: string; name: string }) {
  const pool = useLoad(`pool:${project}:${name}`, () => getPool(project, name), ["IPPool", "IPClaim", "IPAllocation"]);
  const tab = query.value.get("tab") ?? "map";
  const parent = pool.data?.status.parentRef;
  return (
    <>
      <Heading title={name} crumbs={[
        { to: to.page(project, "pools"), text: "Pools" },
        ...(parent ? [{ to: to.pool(parent.project, parent.name), text: parent.name }] : []),
      ]} note={pool.data?.spec.description}>
        {pool.data && <Actions pool={pool.data} project={project} />}
      </Heading>
      <Shown of={pool}>
        {(found) => (
          <>
            <Summary pool={found} />
            <Tabs label="About the pool" tabs={tabs} chosen={tab} choose={(next) => goQuery({ tab: next === "map" ? undefined : next })} />
            <Panel name={tab}>
              {tab === "map" && <BlockMap pool={found} />}
              {tab === "free" && <Free pool={found} />}
              {tab === "claims" && <PoolClaims project={project} pool={name} />}
              {tab === "children" && <Children project={project} name={name} />}
              {tab === "why" && <PoolWhy pool={found} />}
              {tab === "history" && <PoolHistory pool={found} />}
              {tab === "about" && <About pool={found} />}
            </Panel>
          </>
        )}
      </Shown>
    </>
  );
}

function Actions({ pool, project }: { pool: Pool; project: string }) {
  const [deleting, setDeleting] = useState(false);
  const name = pool.metadata.name;
  return (
    <>
      {may("consumer", project) && <Link class="button primary" to={to.newClaim(project, name)}>Claim a block</Link>}
      {may("provider", project) && (
        <>
          <Link class="button" to={to.pool(project, name) + "/hand-over"}>Carve for a team</Link>
          <Link class="button" to={to.newPool(project, name)}>Child pool</Link>
          <Link class="button" to={to.pool(project, name) + "/split"}>Split</Link>
          <button type="button" class="danger" onClick={() => setDeleting(true)}>Delete</button>
        </>
      )}
      {deleting && <DeletePool pool={pool} project={project} close={() => setDeleting(false)} />}
    </>
  );
}

function DeletePool({ pool, project, close }: { pool: Pool; project: string; close: () => void }) {
  const [error, setError] = useState<unknown>();
  const remove = async () => {
    try {
      await ask(api.DELETE("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool: pool.metadata.name }, header: asSeen(pool) } }));
      const parent = pool.status.parentRef;
      go(parent ? to.pool(parent.project, parent.name) : to.page(project, "pools"));
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title={`Delete pool ${pool.metadata.name}?`} close={close}>
      <p>
        Its block <span class="mono">{pool.status.allocatedCIDR}</span> goes back to{" "}
        {pool.status.parentRef ? `pool ${pool.status.parentRef.name}` : "the space"}. A pool that still holds something is not deleted.
      </p>
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        <button type="button" class="danger" onClick={() => void remove()}>Delete the pool</button>
        <button type="button" onClick={close}>Keep it</button>
      </div>
    </Dialog>
  );
}

function Summary({ pool }: { pool: Pool }) {
  const { capacity, utilizationPercent, largestFreePrefixLength } = pool.status;
  const cooling = Number((BigInt(capacity.coolingDown) * 1000n) / BigInt(capacity.total)) / 10;
  return (
    <div class="summary">
      <div class="big">
        <span class="mono">{pool.status.allocatedCIDR}</span>
        <Badge kind={pool.status.phase === "Ready" ? "good" : "warn"}>{pool.status.phase}</Badge>
      </div>
      <Bar percent={utilizationPercent} cooling={cooling} label="Addresses" />
      <dl class="figures">
        <div><dt>Addresses</dt><dd>{formatCount(capacity.total)}</dd></div>
        <div><dt>Held</dt><dd>{formatCount(capacity.allocated)}</dd></div>
        <div><dt>Reserved</dt><dd>{formatCount(capacity.reserved)}</dd></div>
        <div><dt>Cooling down</dt><dd>{formatCount(capacity.coolingDown)}</dd></div>
        <div><dt>Free</dt><dd>{formatCount(capacity.available)}</dd></div>
        <div><dt>Largest free block</dt><dd>{largestFreePrefixLength === undefined ? "none" : `/${largestFreePrefixLength}`}</dd></div>
      </dl>
    </div>
  );
}

function Free({ pool }: { pool: Pool }) {
  const project = pool.metadata.project!;
  const name = pool.metadata.name;
  const free = useLoad(`free:${project}:${name}`, () => ask(api.GET("/v1/projects/{project}/pools/{pool}/free", {
    params: { path: { project, pool: name }, query: { limit: 200 } },
  })), ["IPAllocation", "IPClaim", "IPPool"]);
  return (
    <Shown of={free}>
      {({ summary, items, nextCursor }) =>
        summary.length === 0 ? (
          <Empty>
            Nothing is free.{" "}
            <button type="button" class="link" onClick={() => goQuery({ tab: "why" })}>
              Why is it full?
            </button>
          </Empty>
        ) : (
          <div class="columns">
            <section aria-label="Free by size">
              <h2>By size</h2>
              <Table label="Free blocks by size" head={["Size", ["Free blocks", "right"], ["Could be claimed", "right"]]}>
                {summary.map((row) => (
                  <tr key={row.prefixLength}>
                    <th scope="row" class="mono">
                      /{row.prefixLength}
                    </th>
                    <td class="right number">{formatCount(row.freeBlocks)}</td>
                    <td class="right number">{formatCount(row.available)}</td>
                  </tr>
                ))}
              </Table>
            </section>
            <section aria-label="Free blocks">
              <h2>Largest first</h2>
              <ul class="blocks mono">
                {items.map((item) => (
                  <li key={item.cidr}>
                    {may("consumer", project) ? (
                      <Link to={`${to.newClaim(project, name)}&cidr=${encodeURIComponent(item.cidr)}`}>{item.cidr}</Link>
                    ) : (
                      item.cidr
                    )}
                  </li>
                ))}
              </ul>
              {nextCursor && <p class="note">and smaller ones</p>}
            </section>
          </div>
        )
      }
    </Shown>
  );
}

function Children({ project, name }: { project: string; name: string }) {
  const children = useLoad(`children:${project}:${name}`, () => childrenOf(project, name), ["IPPool"]);
  return (
    <Shown of={children}>
      {({ items, cursor }) => items.length === 0 ? <Empty>No pools were carved from this one.</Empty> : (
        <>
          <Table label="Child pools" head={["Block", "Pool", "Since"]}>
            {items.map((item) => (
              <tr key={item.metadata.uid}>
                <td class="mono">{item.status.allocatedCIDR}</td>
                <th scope="row"><Link to={to.pool(project, item.spec.childPoolRef!.name)}>{item.spec.childPoolRef!.name}</Link></th>
                <td><When at={item.metadata.createdAt} /></td>
              </tr>
            ))}
          </Table>
          {cursor && <p class="note">The first {plural(items.length, "child pool")} in order of address; the tree of pools has all.</p>}
        </>
      )}
    </Shown>
  );
}

function About({ pool }: { pool: Pool }) {
  const { spec, status, metadata } = pool;
  const bounds = spec.allocation;
  const block = parseBlock(status.allocatedCIDR);
  return (
    <Facts
      facts={[
        ["Block", <span class="mono">{block ? formatCIDR(block) : status.allocatedCIDR}</span>],
        ["Space", `${status.spaceRef.project}/${status.spaceRef.name}`],
        ["Parent", status.parentRef && <Link to={to.pool(status.parentRef.project, status.parentRef.name)}>{status.parentRef.name}</Link>],
        ["Visibility", spec.visibility],
        ["Strategy", bounds?.strategy],
        [
          "Sizes handed out",
          bounds && (bounds.minPrefixLength || bounds.maxPrefixLength)
            ? `/${bounds.minPrefixLength ?? block?.length} to /${bounds.maxPrefixLength ?? (block?.family === 6 ? 128 : 32)}`
            : undefined,
        ],
        ["Default size", bounds?.defaultPrefixLength && `/${bounds.defaultPrefixLength}`],
        ["Cool-down", spec.reuseAfter],
        ["Classes", spec.classNames?.join(", ")],
        [
          "Reservations",
          spec.reservations
            ?.map(
              (r) =>
                `${r.cidr ?? (r.first ? `first ${r.first}` : r.last ? `last ${r.last}` : `${r.from}–${r.to}`)}${r.reason ? ` (${r.reason})` : ""}`,
            )
            .join(", "),
        ],
        ["Labels", Object.entries(metadata.labels ?? {}).map(([k, v]) => <Badge key={k}>{`${k}=${v}`}</Badge>)],
        ["Region", spec.regions?.join(", ") ?? metadata.region],
        [
          "Created",
          <>
            <When at={metadata.createdAt} /> by {metadata.createdBy}
          </>,
        ],
      ]}
    />
  );
}
