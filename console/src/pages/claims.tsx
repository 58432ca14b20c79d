// The claims of a project.
import { useMemo, useState } from "preact/hooks";
import { api, ask, pagesOf, type Claim } from "../api";
import { useCalm, useLoad } from "../load";
import { parseBlock } from "../net/cidr";
import { goQuery, Link, query, to } from "../router";
import { searchFor } from "../search";
import { may } from "../session";
import { Badge, Empty, Heading, Input, Table, When } from "../ui/parts";
import { Shown } from "../ui/trouble";

/** What the filter means to the server: a block, an address, labels, or a name. */
function filterOf(text: string): { within?: string; contains?: string; labelSelector?: string } {
  const block = /[.:]/.test(text) ? parseBlock(text) : undefined;
  if (block) return text.includes("/") ? { within: text } : { contains: text };
  return /[=!]/.test(text) ? { labelSelector: text } : {};
}

const page = 100;

export function ClaimsPage({ project }: { project: string }) {
  const text = query.value.get("filter") ?? "";
  const pool = query.value.get("pool") ?? "";
  const [atMost, setAtMost] = useState(page);
  const calm = useCalm(text.trim(), 120);
  const filter = filterOf(calm);
  const name = Object.keys(filter).length === 0 ? calm : "";
  const claims = useLoad(`claims:${project}:${name === "" ? calm : ""}:${pool}:${atMost}`, () => pagesOf<Claim>(
    (cursor) => ask(api.GET("/v1/projects/{project}/claims", {
      params: { path: { project }, query: { limit: page, ...filter, ...(pool ? { pool } : {}), ...(cursor ? { cursor } : {}) } },
    })), atMost,
  ), ["IPClaim"], 5000);
  const all = useMemo(() => <ClaimTable project={project} claims={claims.data?.items ?? []} />, [claims.data]);
  return (
    <>
      <Heading title="Claims" note="What this project holds, in order of name.">
        {may("consumer", project) && <Link class="button primary" to={to.newClaim(project)}>Claim a block</Link>}
      </Heading>
      <div class="filters">
        <Input label="Filter" placeholder="Name, 10.1.0.0/16, 10.1.2.3 or env=prod" value={text} change={(filter) => goQuery({ filter })} />
        <Input label="Pool" value={pool} change={(pool) => goQuery({ pool })} />
      </div>
      <Shown of={claims} rows={10}>
        {({ items, cursor }) => {
          if (cursor && name !== "") return <ByName project={project} name={name} pool={pool} />;
          const shown = name === "" ? items : items.filter((claim) => claim.metadata.name.includes(name));
          return (
            <>
              {shown.length === 0 && <Empty>{calm || pool ? "No claim fits, as far as was looked." : "This project holds nothing yet."}</Empty>}
              {shown.length > 0 && (name === "" ? all : <ClaimTable project={project} claims={shown} />)}
              {cursor && <button type="button" onClick={() => setAtMost(atMost + page)}>Show more</button>}
            </>
          );
        }}
      </Shown>
    </>
  );
}

const most = 100; // claims that are found by name where there are many

/** Where there are many claims the server finds them by the beginning of their names. */
function ByName({ project, name, pool }: { project: string; name: string; pool: string }) {
  const found = useLoad(`claims-named:${project}:${name}`, (stop) => searchFor(`${project}/${name}`, stop, most));
  return (
    <Shown of={found} rows={4}>
      {(hits) => {
        const claims = hits.filter((hit) => hit.kind === "IPClaim" && hit.project === project && (pool === "" || hit.poolRef?.name === pool));
        if (claims.length === 0) return <Empty>No claim has a name that begins with “{name}”{pool && ` in pool ${pool}`}.</Empty>;
        return (
          <>
            <Table label="Claims" head={["Name", "Block", "Pool"]}>
              {claims.map((hit) => (
                <tr key={hit.name}>
                  <th scope="row"><Link to={to.claim(project, hit.name)}>{hit.name}</Link></th>
                  <td class="mono">{hit.cidr}</td>
                  <td>{hit.poolRef && <PoolLink pool={hit.poolRef} project={project} />}</td>
                </tr>
              ))}
            </Table>
            {hits.length >= most && <p class="note">There may be more. Type more of the name.</p>}
          </>
        );
      }}
    </Shown>
  );
}

function PoolLink({ pool, project }: { pool: { project: string; name: string }; project: string }) {
  return pool.project === project ? <Link to={to.pool(project, pool.name)}>{pool.name}</Link> : <>{pool.project}/{pool.name}</>;
}

function ClaimTable({ project, claims }: { project: string; claims: Claim[] }) {
  return (
    <Table label="Claims" head={["Name", "Block", "Pool", "Class", "State", "Labels", "Age"]}>
      {claims.map((claim) => (
        <tr key={claim.metadata.uid}>
          <th scope="row"><Link to={to.claim(project, claim.metadata.name)}>{claim.metadata.name}</Link></th>
          <td class="mono">{claim.status.allocatedCIDR}</td>
          <td><PoolLink pool={claim.status.poolRef} project={project} /></td>
          <td>{claim.status.className}</td>
          <td><Badge kind={claim.status.phase === "Bound" ? "good" : "warn"}>{claim.status.phase}</Badge></td>
          <td>{Object.entries(claim.metadata.labels ?? {}).map(([k, v]) => <Badge key={k}>{`${k}=${v}`}</Badge>)}</td>
          <td><When at={claim.metadata.createdAt} /></td>
        </tr>
      ))}
    </Table>
  );
}
