// Quotas as a matrix: what each bounds, and how near the project is to it.
import { useState } from "preact/hooks";
import { api, ask, asSeen, type Quota } from "../api";
import { share } from "../format";
import { formatCount } from "../net/cidr";
import { useLoad } from "../load";
import { may } from "../session";
import { Badge, Bar, Dialog, Empty, Heading, Input, Table } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

export function QuotasPage({ project }: { project: string }) {
  const quotas = useLoad(`quotas:${project}`, () => ask(api.GET("/v1/projects/{project}/quotas", {
    params: { path: { project }, query: { limit: 100 } },
  })), ["Quota", "IPClaim", "IPPool"]);
  const [editing, setEditing] = useState<Quota | "new" | undefined>();
  return (
    <>
      <Heading title="Quotas" note="They bound what the project holds. All that cover a claim apply.">
        {may("admin", project) && <button type="button" class="primary" onClick={() => setEditing("new")}>New quota</button>}
      </Heading>
      <Shown of={quotas}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No quota bounds this project.</Empty>
          ) : (
            <Table label="Quotas" head={["Quota", "Counts", "Addresses", "Claims", "Pools", "Set by", "Change"]}>
              {items.map((quota) => (
                <tr key={quota.metadata.uid}>
                  <th scope="row">{quota.metadata.name}</th>
                  <td>{scope(quota)}</td>
                  {(["addresses", "claims", "pools"] as const).map((m) => (
                    <td key={m}>
                      <Measure quota={quota} measure={m} />
                    </td>
                  ))}
                  <td>
                    <Badge>{quota.status.owner}</Badge>
                  </td>
                  <td>
                    {may("admin", project) && (
                      <button type="button" class="quiet" aria-label={`Change ${quota.metadata.name}`} onClick={() => setEditing(quota)}>
                        Change
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </Table>
          )
        }
      </Shown>
      {editing && (
        <Edit
          project={project}
          quota={editing === "new" ? undefined : editing}
          close={() => setEditing(undefined)}
          done={() => {
            setEditing(undefined);
            quotas.reload();
          }}
        />
      )}
    </>
  );
}

function scope({ spec }: Quota): string {
  const pool = spec.scope?.poolRef;
  const named = spec.scope?.classRef;
  if (pool) return `pool ${pool.project ? pool.project + "/" : ""}${pool.name}`;
  if (named) return `class ${named.project ? named.project + "/" : ""}${named.name}`;
  return spec.scope?.ipFamily ?? "everything";
}

function Measure({ quota, measure }: { quota: Quota; measure: "addresses" | "claims" | "pools" }) {
  const limit = quota.spec.limits[measure];
  const used = quota.status.used[measure];
  if (limit === undefined) return <span class="note number">{formatCount(used)}</span>;
  return (
    <>
      <span class="number">{formatCount(used)} / {formatCount(limit)}</span>
      <Bar percent={share(used, limit)} label={`${quota.metadata.name}, ${measure}`} />
    </>
  );
}

function Edit({ project, quota, close, done }: { project: string; quota: Quota | undefined; close: () => void; done: () => void }) {
  const limits = quota?.spec.limits;
  const [name, setName] = useState(quota?.metadata.name ?? "");
  const [addresses, setAddresses] = useState(limits?.addresses ?? "");
  const [claims, setClaims] = useState(String(limits?.claims ?? ""));
  const [pools, setPools] = useState(String(limits?.pools ?? ""));
  const [error, setError] = useState<unknown>();
  const submit = async (e: Event) => {
    e.preventDefault();
    try {
      await ask(api.PUT("/v1/projects/{project}/quotas/{quota}", {
        params: { path: { project, quota: name }, header: quota ? asSeen(quota) : { "If-None-Match": "*" } },
        body: { spec: {
          ...(quota?.spec.scope ? { scope: quota.spec.scope } : {}), ...(quota?.spec.description ? { description: quota.spec.description } : {}),
          limits: { ...(addresses ? { addresses } : {}), ...(claims ? { claims: Number(claims) } : {}), ...(pools ? { pools: Number(pools) } : {}) },
        } },
      }));
      done();
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <Dialog title={quota ? `Change ${quota.metadata.name}` : "New quota"} close={close}>
      <form onSubmit={submit}>
        {!quota && <Input label="Name" required value={name} change={setName} />}
        <Input label="Addresses" inputMode="numeric" hint="Left empty, no limit." value={addresses} change={setAddresses} />
        <Input label="Claims" inputMode="numeric" value={claims} change={setClaims} />
        <Input label="Pools" inputMode="numeric" value={pools} change={setPools} />
        {error !== undefined && <Trouble error={error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={name === ""}>
            Save
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
