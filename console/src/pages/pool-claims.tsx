// The blocks that all projects hold in a pool, in address order.
import { useState } from "preact/hooks";
import { api, ask, pagesOf, type Allocation } from "../api";
import { useKept } from "../kept";
import { useLoad } from "../load";
import { Link, to } from "../router";
import { Badge, Empty, Input, Table, When } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { parseBlock } from "../net/cidr";

export function PoolClaims({ project, pool }: { project: string; pool: string }) {
  const [within, setWithin] = useState("");
  const { value: atMost, set: setAtMost } = useKept("shown", () => 100);
  const block = parseBlock(within);
  const filter = block ? (within.includes("/") ? { within } : { contains: within }) : {};
  const held = useLoad(`held:${project}:${pool}:${block ? within : ""}:${atMost}`, () => pagesOf<Allocation>(
    (cursor) => ask(api.GET("/v1/projects/{project}/allocations", {
      params: { path: { project }, query: { pool, limit: Math.min(500, atMost), ...filter, ...(cursor ? { cursor } : {}) } },
    })), atMost,
  ), ["IPAllocation", "IPClaim"]);
  return (
    <>
      <div class="filter">
        <Input label="Address or block" placeholder="10.1.2.3 or 10.1.2.0/24" value={within} change={setWithin}
          error={within !== "" && !block ? "This is neither an address nor a block." : undefined} />
      </div>
      <Shown of={held}>
        {({ items, cursor }) =>
          items.length === 0 ? (
            <Empty>{block ? "Nothing is held there." : "Nothing is held. The whole pool is free."}</Empty>
          ) : (
            <>
              <Table label="Held blocks" head={["Block", "Held by", "Project", "Class", "State", "Since"]}>
                {items.map((item) => (
                  <Held key={item.metadata.uid} item={item} project={project} />
                ))}
              </Table>
              {cursor && (
                <button type="button" onClick={() => setAtMost(atMost + 400)}>
                  Show more
                </button>
              )}
            </>
          )
        }
      </Shown>
    </>
  );
}

function Held({ item, project }: { item: Allocation; project: string }) {
  const { spec, status, metadata } = item;
  return (
    <tr>
      <td class="mono"><Link to={to.address(project, status.allocatedCIDR.split("/")[0]!)}>{status.allocatedCIDR}</Link></td>
      <td>
        {spec.childPoolRef && <>pool <Link to={to.pool(spec.childPoolRef.project, spec.childPoolRef.name)}>{spec.childPoolRef.name}</Link></>}
        {spec.claimRef && (status.phase === "Bound"
          ? <Link to={to.claim(spec.claimRef.project, spec.claimRef.name)}>{spec.claimRef.name}</Link> : <>{spec.claimRef.name} (gone)</>)}
        {spec.purpose === "Reservation" && <span class="note">{spec.reason ?? "Reservation"}</span>}
        {spec.purpose === "Claim" && !spec.claimRef && <span class="note">a claim</span>}
      </td>
      <td>{spec.consumer}</td>
      <td>{spec.className}</td>
      <td><State spec={spec} phase={status.phase} />
        {status.coolUntil && <> free <When at={status.coolUntil} /></>}</td>
      <td><When at={metadata.createdAt} /></td>
    </tr>
  );
}

/** Shows the state of a block in the words and colours of the list of claims. */
function State({ spec, phase }: { spec: Allocation["spec"]; phase: Allocation["status"]["phase"] }) {
  if (spec.purpose === "Reservation") return <Badge>Reserved</Badge>;
  if (spec.purpose === "ChildPool") return <Badge>Child pool</Badge>;
  return <Badge kind={phase === "Bound" ? "good" : "warn"}>{phase === "CoolingDown" ? "Cooling down" : phase}</Badge>;
}
