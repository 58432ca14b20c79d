// The quotas of a project, and how near the project is to each limit.
import { useState } from "preact/hooks";
import { api, ask, asSeen, goneNow, holds, ensure, type Quota, type Schemas } from "../api";
import { errorAt, nameError } from "../fields";
import { share } from "../format";
import { formatCount } from "../net/cidr";
import { useKept } from "../kept";
import { useLoad } from "../load";
import { refText } from "../pools";
import { may } from "../session";
import { Badge, Bar, Dialog, Empty, Heading, Input, Restored, Select, Table } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

export function QuotasPage({ project }: { project: string }) {
  const quotas = useLoad(`quotas:${project}`, () => ask(api.GET("/v1/projects/{project}/quotas", {
    params: { path: { project }, query: { limit: 500 } },
  })), ["Quota", "IPClaim", "IPPool"]);
  const [editing, setEditing] = useState<Quota | "new" | undefined>();
  return (
    <>
      <Heading title="Quotas" note="A quota limits the project's addresses, claims and pools. A claim must fit into every quota that counts it.">
        {may("admin", project) && <button type="button" class="primary" onClick={() => setEditing("new")}>New quota</button>}
      </Heading>
      <Shown of={quotas}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No quota limits this project.</Empty>
          ) : (
            <Table label="Quotas" head={["Quota", "Counts", "Addresses", "Claims", "Pools", "Set by", "Change"]}>
              {items.map((quota) => (
                <tr key={quota.metadata.uid}>
                  <th scope="row">{quota.metadata.name}</th>
                  <td>{scope(project, quota)}</td>
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

function scope(project: string, { spec }: Quota): string {
  const named = (ref: { project?: string; name: string }) => refText(project, { project, ...ref });
  if (spec.scope?.poolRef) return `pool ${named(spec.scope.poolRef)}`;
  if (spec.scope?.classRef) return `class ${named(spec.scope.classRef)}`;
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

type Scope = "all" | "IPv4" | "IPv6" | "pool" | "class";
interface Form { name: string; scope: Scope; of: string; addresses: string; claims: string; pools: string; description: string }

const numberError = (text: string) => (text === "" || /^\d+$/.test(text) ? undefined : "Enter a whole number, or leave it empty for no limit.");

function Edit({ project, quota, close, done }: { project: string; quota: Quota | undefined; close: () => void; done: () => void }) {
  const limits = quota?.spec.limits;
  const kept = useKept<Form>(`quota ${quota?.metadata.revision ?? "new"}`, () => ({
    name: quota?.metadata.name ?? "", scope: "all", of: "", description: quota?.spec.description ?? "",
    addresses: limits?.addresses ?? "", claims: String(limits?.claims ?? ""), pools: String(limits?.pools ?? ""),
  }));
  const form = kept.value;
  const [deleting, setDeleting] = useState(false);
  const [error, setError] = useState<unknown>();
  const { name, addresses, claims, pools } = form;
  const set = (part: Partial<Form>) => { setError(undefined); kept.set({ ...form, ...part }); };
  const at = { path: { project, quota: name } };
  const read = () => ask(api.GET("/v1/projects/{project}/quotas/{quota}", { params: at }));
  const run = (work: Promise<unknown>, isSo: () => Promise<boolean>) => { setError(undefined); ensure(work, isSo).then(() => { kept.clear(); done(); }, setError); };
  const submit = (e: Event) => {
    e.preventDefault();
    const scope = quota ? quota.spec.scope : scopeOf(project, form);
    run(ask(api.PUT("/v1/projects/{project}/quotas/{quota}", {
      params: { ...at, header: quota ? asSeen(quota) : { "If-None-Match": "*" } },
      body: { spec: {
        ...(scope ? { scope } : {}), ...(form.description ? { description: form.description } : {}),
        limits: { ...(addresses ? { addresses } : {}), ...(claims ? { claims: Number(claims) } : {}), ...(pools ? { pools: Number(pools) } : {}) },
      } },
    })), async () => holds((await read()).spec, {
      scope: scope ?? null, description: form.description || null,
      limits: { addresses: addresses || null, claims: claims ? Number(claims) : null, pools: pools ? Number(pools) : null },
    }));
  };
  const remove = () => run(ask(api.DELETE("/v1/projects/{project}/quotas/{quota}", { params: { ...at, header: asSeen(quota!) } })), () => goneNow(read()));
  if (deleting) {
    return (
      <Dialog title={`Delete quota ${name}?`} close={close}>
        <p>The project keeps its claims and pools. The quota no longer limits it.</p>
        {error !== undefined && <Trouble error={error} />}
        <div class="actions">
          <button type="button" class="danger" onClick={remove}>Delete the quota</button>
          <button type="button" autofocus onClick={close}>Keep it</button>
        </div>
      </Dialog>
    );
  }
  const named = form.scope === "pool" || form.scope === "class";
  const sound = name !== "" && !nameError(name) && (!named || form.of !== "") && ![addresses, claims, pools].some(numberError);
  return (
    <Dialog title={quota ? `Change ${quota.metadata.name}` : "New quota"} close={close}>
      <form onSubmit={submit}>
        <Restored form={kept} />
        {!quota && <Input label="Name" required value={name} change={(next) => set({ name: next })} error={nameError(name) ?? errorAt(error, "Name")} />}
        {quota ? <p class="note">Counts {scope(project, quota)}. To count something else, delete the quota and create another one.</p> : (
          <Select label="Counts" value={form.scope} change={(next) => set({ scope: next as Scope, of: "" })}
            options={[["all", "Everything"], ["IPv4", "IPv4 only"], ["IPv6", "IPv6 only"], ["pool", "One pool and its child pools"], ["class", "Claims by one class"]]} />
        )}
        {named && (
          <Input label={form.scope === "pool" ? "Pool" : "Class"} required value={form.of} change={(of) => set({ of: of.trim() })}
            hint="Its name, or project/name of one that belongs to another project." error={errorAt(error, form.scope === "pool" ? "Pool" : "Class")} />
        )}
        <Input label="Addresses" inputMode="numeric" hint="If empty, no limit." value={addresses} change={(next) => set({ addresses: next.trim() })}
          error={numberError(addresses) ?? errorAt(error, "Addresses")} />
        <Input label="Claims" inputMode="numeric" value={claims} change={(next) => set({ claims: next.trim() })} error={numberError(claims) ?? errorAt(error, "Claims")} />
        <Input label="Pools" inputMode="numeric" value={pools} change={(next) => set({ pools: next.trim() })} error={numberError(pools) ?? errorAt(error, "Pools")} />
        <Input label="Description" value={form.description} change={(description) => set({ description })} error={errorAt(error, "Description")} />
        {error !== undefined && <Trouble error={error} fields={["Name", "Pool", "Class", "Addresses", "Claims", "Pools", "Description"]} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={!sound}>Save</button>
          <button type="button" onClick={() => { kept.clear(); close(); }}>Cancel</button>
          {quota && <button type="button" class="danger" onClick={() => setDeleting(true)}>Delete…</button>}
        </div>
      </form>
    </Dialog>
  );
}

/** Returns the scope of a new quota; undefined for a quota that counts everything. */
function scopeOf(project: string, { scope, of }: Form): Schemas["QuotaScope"] | undefined {
  if (scope === "all") return undefined;
  if (scope === "IPv4" || scope === "IPv6") return { ipFamily: scope };
  const [owner, name] = of.includes("/") ? of.split("/") : [project, of];
  const ref = owner === project ? { name: name! } : { project: owner!, name: name! };
  return scope === "pool" ? { poolRef: ref } : { classRef: ref };
}
