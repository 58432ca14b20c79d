// The claims of a project.
import { useMemo } from "preact/hooks";
import { api, ask, pagesOf, type Claim } from "../api";
import { plural } from "../format";
import { useKept } from "../kept";
import { useCalm, useLoad } from "../load";
import { isPartial, parseBlock } from "../net/cidr";
import { goQuery, Link, query, to } from "../router";
import { searchFor } from "../search";
import { may } from "../session";
import { Badge, Empty, Heading, Input, LabelList, Table, When } from "../ui/parts";
import { Shown } from "../ui/trouble";

/** Converts the filter to parameters of the server: a block, an address, labels, or a name. */
function filterOf(text: string): { within?: string; contains?: string; labelSelector?: string } {
  const block = /[.:]/.test(text) ? parseBlock(text) : undefined;
  if (block) return text.includes("/") ? { within: text } : { contains: text };
  return /[=!]/.test(text) ? { labelSelector: text } : {};
}

const page = 100;

export function ClaimsPage({ project }: { project: string }) {
  const text = query.value.get("filter") ?? "";
  const pool = query.value.get("pool") ?? "";
  const shown = useKept("shown", () => page);
  const calm = useCalm(text.trim(), 120);
  const filter = filterOf(calm);
  const name = Object.keys(filter).length === 0 ? calm : "";
  const atMost = shown.value;
  const claims = useLoad(`claims:${project}:${name === "" ? calm : ""}:${pool}:${atMost}`, (signal) => pagesOf<Claim>(
    (cursor) => ask(api.GET("/v1/projects/{project}/claims", {
      params: { path: { project }, query: { limit: page, ...filter, ...(pool ? { pool } : {}), ...(cursor ? { cursor } : {}) } }, signal,
    })), atMost, undefined, atMost / 10,
  ), ["IPClaim"], 5000);
  const all = useMemo(() => <ClaimTable project={project} claims={claims.data?.items ?? []} />, [claims.data]);
  return (
    <>
      <Heading title="Claims" note={pool ? "The project's claims in one pool, by address." : "The project's claims, by name."}>
        {may("consumer", project) && <Link class="button primary" to={to.newClaim(project)}>Claim a block</Link>}
      </Heading>
      <div class="filters">
        <Input label="Filter" placeholder="Name, 10.1.0.0/16, 10.1.2.3 or env=prod" value={text} change={(filter) => goQuery({ filter })} />
        <Input label="Pool" value={pool} change={(pool) => goQuery({ pool })} />
      </div>
      <Shown of={claims} rows={10}>
        {({ items, cursor }) => {
          if (isPartial(calm)) return <Empty>Enter a whole address or block, such as 10.1.2.3 or 10.1.0.0/16.</Empty>;
          if (cursor && name !== "") return <ByName project={project} name={name} pool={pool} />;
          const fitting = name === "" ? items : items.filter((claim) => claim.metadata.name.includes(name));
          return (
            <>
              <p class="note" role="status">{cursor ? `The first ${plural(fitting.length, "claim")}; there may be more.` : plural(fitting.length, "claim")}</p>
              {fitting.length === 0 && <Empty>{cursor ? "None so far." : calm || pool ? "No claim matches." : "This project has no claims yet."}</Empty>}
              {fitting.length > 0 && (name === "" ? all : <ClaimTable project={project} claims={fitting} />)}
              {cursor && <button type="button" disabled={claims.loading} onClick={() => shown.set(atMost + page)}>{fitting.length === 0 ? "Look further" : "Show more"}</button>}
            </>
          );
        }}
      </Shown>
    </>
  );
}

const most = 100; // limit of claims found by name in a large project

/** If there are many claims, the server finds them by the beginning of their names. */
function ByName({ project, name, pool }: { project: string; name: string; pool: string }) {
  const found = useLoad(`claims-named:${project}:${name}`, (signal) => searchFor(`${project}/${name}`, { kind: "IPClaim", limit: most, signal }), ["IPClaim"], 5000);
  return (
    <Shown of={found} rows={4}>
      {({ items, truncated }) => {
        const wanted = pool.includes("/") ? pool : `${project}/${pool}`;
        const claims = items.filter(({ poolRef }) => pool === "" || (poolRef && `${poolRef.project}/${poolRef.name}` === wanted));
        const rest = truncated && <p class="note">The console checked only the first {most} claims with such names{pool && ", in all pools"}. Type more of the name.</p>;
        if (claims.length === 0) return <><Empty>No claim{truncated && " among these"} has a name that begins with “{name}”{pool && ` and is in pool ${pool}`}.</Empty>{rest}</>;
        return (
          <>
            <p class="note" role="status">{plural(claims.length, "claim")} with names that begin with “{name}”{truncated && "; there are more"}</p>
            <Table label="Claims" head={["Name", "Block", "Pool"]}>
              {claims.map((hit) => (
                <tr key={hit.name}>
                  <th scope="row"><Link to={to.claim(project, hit.name)}>{hit.name}</Link></th>
                  <td class="mono">{hit.cidr}</td>
                  <td>{hit.poolRef && <PoolLink pool={hit.poolRef} project={project} />}</td>
                </tr>
              ))}
            </Table>
            {rest}
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
          <td><LabelList labels={claim.metadata.labels} /></td>
          <td><When at={claim.metadata.createdAt} /></td>
        </tr>
      ))}
    </Table>
  );
}
