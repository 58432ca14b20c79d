// A pool: its facts, its contents, its free space, and why it is full.
import { useState } from "preact/hooks";
import { api, ask, asSeen, goneNow, pagesOf, ensure, type Pool, type Schemas } from "../api";
import { bits, formatCount, formatCIDR, parseBlock, partOf } from "../net/cidr";
import { plural } from "../format";
import { useKept } from "../kept";
import { useLoad } from "../load";
import { childrenOf, division, each, getPool, ignoreGone } from "../pools";
import { go, goQuery, Link, query, to } from "../router";
import { searchFor } from "../search";
import { may } from "../session";
import { BlockMap } from "../ui/block-map";
import { Badge, Bar, Dialog, Empty, Facts, Heading, LabelList, Panel, Table, Tabs, When } from "../ui/parts";
import { Gone } from "../ui/gone";
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
  const above = usePath(project, pool.data);
  return (
    <>
      <Heading title={name} crumbs={[
        { to: to.page(project, "pools"), text: "Pools" },
        ...above.map((each) => ({ to: to.pool(project, each), text: each })),
      ]} note={pool.data?.spec.description}>
        {pool.data && <Actions pool={pool.data} project={project} />}
      </Heading>
      <Shown of={pool} gone={<Gone project={project} kind="IPPool" name={name} />}>
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

/** Returns the names of the pools around a pool, outermost first. Until they are loaded it returns only the parent's name. */
function usePath(project: string, pool: Pool | undefined): string[] {
  const parent = pool?.status.parentRef;
  const cidr = pool?.status.allocatedCIDR;
  const around = useLoad(parent ? `around:${project}:${cidr}` : undefined, (signal) => searchFor(`${project}/${cidr}`, { kind: "IPPool", limit: 100, signal }));
  if (!pool || !parent) return [];
  const { project: owner, name } = pool.status.spaceRef;
  const length = Number(cidr!.split("/")[1]);
  const outer = around.data?.items
    .map((hit) => ({ hit, length: Number(hit.cidr!.split("/")[1]) }))
    .filter((each) => each.hit.spaceRef?.project === owner && each.hit.spaceRef.name === name && each.length < length)
    .sort((a, b) => a.length - b.length)
    .map((each) => each.hit.name);
  return outer?.at(-1) === parent.name ? outer : [parent.name];
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
    setError(undefined);
    try {
      await ensure(ask(api.DELETE("/v1/projects/{project}/pools/{pool}", { params: { path: { project, pool: pool.metadata.name }, header: asSeen(pool) } })),
        () => goneNow(getPool(project, pool.metadata.name)));
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
        {pool.status.parentRef ? `pool ${pool.status.parentRef.name}` : "the space"}. The server deletes only an empty pool.
      </p>
      {error !== undefined && <Trouble error={error} />}
      <div class="actions">
        <button type="button" class="danger" onClick={() => void remove()}>Delete the pool</button>
        <button type="button" autofocus onClick={close}>Keep it</button>
      </div>
    </Dialog>
  );
}

function Summary({ pool }: { pool: Pool }) {
  const { capacity, utilizationPercent, largestFreePrefixLength } = pool.status;
  const cooling = Number((BigInt(capacity.coolingDown) * 1000n) / BigInt(capacity.total)) / 10;
  const kind = useLoad(`division:${pool.metadata.uid}`, () => division(pool.metadata.project!, pool), ["IPPool"], 5000);
  const divided = kind.data === "divided";
  return (
    <div class="summary">
      <div class="big">
        <span class="mono">{pool.status.allocatedCIDR}</span>
        {divided && pool.status.phase === "Exhausted" ? <Badge>Fully carved</Badge>
          : <Badge kind={pool.status.phase === "Ready" ? "good" : "warn"}>{pool.status.phase}</Badge>}
      </div>
      <Bar percent={utilizationPercent} cooling={cooling} label="Addresses" divided={divided} />
      {divided && <p class="note">The whole blocks of child pools count as held here. Each child pool shows its own use.</p>}
      <dl class="figures">
        <div><dt>Addresses</dt><dd>{formatCount(capacity.total)}</dd></div>
        <div><dt>{divided ? "Held or in child pools" : "Held"}</dt><dd>{formatCount(capacity.allocated)}</dd></div>
        <div><dt>Reserved</dt><dd>{formatCount(capacity.reserved)}</dd></div>
        <div><dt>Cooling down</dt><dd>{formatCount(capacity.coolingDown)}</dd></div>
        <div><dt>Free</dt><dd>{formatCount(capacity.available)}</dd></div>
        <div><dt>Largest free block</dt><dd>{largestFreePrefixLength === undefined ? "none" : `/${largestFreePrefixLength}`}</dd></div>
      </dl>
    </div>
  );
}

/** Returns the block that a click on a free block claims: the block itself, or its beginning if the pool allows only smaller blocks. */
function claimable(pool: Pool, cidr: string): string | undefined {
  const block = parseBlock(cidr)!;
  const { minPrefixLength = 0, maxPrefixLength = bits(block.family) } = pool.spec.allocation ?? {};
  if (block.length > maxPrefixLength) return undefined;
  return formatCIDR(partOf(block, Math.max(block.length, minPrefixLength), 0));
}

function Free({ pool }: { pool: Pool }) {
  const project = pool.metadata.project!;
  const name = pool.metadata.name;
  const { value: enough, set: setEnough } = useKept("shown", () => 200);
  const free = useLoad(`free:${project}:${name}:${enough}`, async () => {
    let summary: Schemas["PoolFree"]["summary"] = [];
    const pages = await pagesOf<Schemas["PoolFree"]["items"][number]>(async (cursor) => {
      const answer = await ask(api.GET("/v1/projects/{project}/pools/{pool}/free", {
        params: { path: { project, pool: name }, query: { limit: 200, ...(cursor ? { cursor } : {}) } },
      }));
      if (cursor === undefined) summary = answer.summary;
      return answer;
    }, enough);
    return { summary, ...pages };
  }, ["IPAllocation", "IPClaim", "IPPool"], 5000);
  const { minPrefixLength, maxPrefixLength } = pool.spec.allocation ?? {};
  const whole = parseBlock(pool.status.allocatedCIDR)!;
  return (
    <Shown of={free}>
      {({ summary, items, cursor }) =>
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
              <p class="note">
                Could be claimed: the number of blocks of this size that fit into the free space.
                {(minPrefixLength || maxPrefixLength) && ` This pool allows only /${minPrefixLength ?? whole.length} to /${maxPrefixLength ?? bits(whole.family)}, so other sizes have 0.`}
              </p>
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
                {items.map(({ cidr }) => <li key={cidr}><FreeBlock pool={pool} cidr={cidr} /></li>)}
              </ul>
              {cursor && <button type="button" disabled={free.loading} onClick={() => setEnough(enough + 800)}>Show smaller ones</button>}
            </section>
          </div>
        )
      }
    </Shown>
  );
}

function FreeBlock({ pool, cidr }: { pool: Pool; cidr: string }) {
  const project = pool.metadata.project!;
  const wanted = claimable(pool, cidr);
  if (!wanted || !may("consumer", project)) return <>{cidr}</>;
  return <Link to={`${to.newClaim(project, pool.metadata.name)}&cidr=${encodeURIComponent(wanted)}`}>{cidr}</Link>;
}

const childrenAtOnce = 50;

function Children({ project, name }: { project: string; name: string }) {
  const { value: enough, set: setEnough } = useKept("shown", () => childrenAtOnce);
  const children = useLoad(`children:${project}:${name}:${enough}`, async () => {
    const { items, cursor } = await childrenOf(project, name, undefined, enough);
    const rows = await each(items.slice(0, enough), async (item) => {
      const pool = await getPool(project, item.spec.childPoolRef!.name).catch(ignoreGone);
      const full = pool && pool.status.utilizationPercent >= 80; // red, unless it is divided itself
      return { item, pool, divided: full ? (await division(project, pool).catch(ignoreGone)) === "divided" : false };
    });
    return { rows, more: cursor !== undefined || items.length > enough };
  }, ["IPPool", "IPAllocation"], 5000);
  return (
    <Shown of={children}>
      {({ rows, more }) => rows.length === 0 ? <Empty>No pools were carved from this one.</Empty> : (
        <>
          <Table label="Child pools" head={["Block", "Pool", "Used", ["Free addresses", "right"], "Description", "Since"]}>
            {rows.map(({ item, pool, divided }) => (
              <tr key={item.metadata.uid}>
                <td class="mono">{item.status.allocatedCIDR}</td>
                <th scope="row"><Link to={to.pool(project, item.spec.childPoolRef!.name)}>{item.spec.childPoolRef!.name}</Link></th>
                <td>{pool && <Bar percent={pool.status.utilizationPercent} label={pool.metadata.name} divided={divided} />}</td>
                <td class="right number">{pool && formatCount(pool.status.capacity.available)}</td>
                <td class="note">{pool?.spec.description}</td>
                <td><When at={item.metadata.createdAt} /></td>
              </tr>
            ))}
          </Table>
          {more && (
            <p>
              <span class="note">The first {plural(rows.length, "child pool")} in order of address.</span>{" "}
              <button type="button" disabled={children.loading} onClick={() => setEnough(enough + 4 * childrenAtOnce)}>Show more</button>
            </p>
          )}
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
          "Allowed sizes",
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
        ["Labels", metadata.labels && <LabelList labels={metadata.labels} />],
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
