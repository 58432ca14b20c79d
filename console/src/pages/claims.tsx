// The claims of a project.
import { useState } from "preact/hooks";
import { api, ask, pagesOf, type Claim } from "../api";
import { useCalm, useLoad } from "../load";
import { parseBlock } from "../net/cidr";
import { goQuery, Link, query, to } from "../router";
import { may } from "../session";
import { Badge, Empty, Heading, Input, Table, When } from "../ui/parts";
import { Shown } from "../ui/trouble";

/** What the filter means to the server: a block, an address, labels, or a name. */
function filterOf(text: string): { within?: string; contains?: string; labelSelector?: string } {
  const block = /[.:]/.test(text) ? parseBlock(text) : undefined;
  if (block) return text.includes("/") ? { within: text } : { contains: text };
  return /[=!]/.test(text) ? { labelSelector: text } : {};
}

export function ClaimsPage({ project }: { project: string }) {
  const text = query.value.get("filter") ?? "";
  const pool = query.value.get("pool") ?? "";
  const [atMost, setAtMost] = useState(200);
  const calm = useCalm(text.trim(), 300);
  const filter = filterOf(calm);
  const byName = calm !== "" && Object.keys(filter).length === 0;
  const claims = useLoad(`claims:${project}:${calm}:${pool}:${atMost}`, () => pagesOf<Claim>(
    (cursor) => ask(api.GET("/v1/projects/{project}/claims", {
      params: { path: { project }, query: { limit: 200, ...filter, ...(pool ? { pool } : {}), ...(cursor ? { cursor } : {}) } },
    })), atMost,
  ), ["IPClaim"]);
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
          const shown = byName ? items.filter((claim) => claim.metadata.name.includes(calm)) : items;
          return (
            <>
              {shown.length === 0 ? <Empty>{calm || pool ? "No claim fits, as far as was looked." : "This project holds nothing yet."}</Empty> : <ClaimTable project={project} claims={shown} />}
              {cursor && <button type="button" onClick={() => setAtMost(atMost + 800)}>{byName ? "Look through more names" : "Show more"}</button>}
            </>
          );
        }}
      </Shown>
    </>
  );
}

function ClaimTable({ project, claims }: { project: string; claims: Claim[] }) {
  return (
    <Table label="Claims" head={["Name", "Block", "Pool", "Class", "State", "Labels", "Age"]}>
      {claims.map((claim) => (
        <tr key={claim.metadata.uid}>
          <th scope="row"><Link to={to.claim(project, claim.metadata.name)}>{claim.metadata.name}</Link></th>
          <td class="mono">{claim.status.allocatedCIDR}</td>
          <td>{claim.status.poolRef.project === project
            ? <Link to={to.pool(project, claim.status.poolRef.name)}>{claim.status.poolRef.name}</Link>
            : `${claim.status.poolRef.project}/${claim.status.poolRef.name}`}</td>
          <td>{claim.status.className}</td>
          <td><Badge kind={claim.status.phase === "Bound" ? "good" : "warn"}>{claim.status.phase}</Badge></td>
          <td>{Object.entries(claim.metadata.labels ?? {}).map(([k, v]) => <Badge key={k}>{`${k}=${v}`}</Badge>)}</td>
          <td><When at={claim.metadata.createdAt} /></td>
        </tr>
      ))}
    </Table>
  );
}
