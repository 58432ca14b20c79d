// Carving a block for a team and handing it over: a shared child pool, and the grant that lets the team claim from it.
import { useState } from "preact/hooks";
import { api, ask, type Pool } from "../api";
import { useCalm, useLoad } from "../load";
import { Link, to } from "../router";
import { loadProjects } from "../shell";
import { Copy, Field, Heading, Input } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";
import { makePool, Preview, tryPool } from "./pool-form";

interface Form { team: string; size: string; name: string }

const bodyOf = (parent: string, form: Form) => ({
  metadata: { name: form.name, labels: { team: form.team } },
  spec: { parentRef: { name: parent }, prefixLength: Number(form.size), visibility: "shared" as const },
});

export const grant = (project: string, pool: string, consumer: string) => ask(api.PUT("/v1/projects/{project}/pools/{pool}/grants/{consumer}", {
  params: { path: { project, pool, consumer } },
}));

export function HandOver({ project, name }: { project: string; name: string }) {
  const [form, setForm] = useState<Form>({ team: "", size: "24", name: "" });
  const [made, setMade] = useState<Pool | undefined>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Form>) => setForm({ ...form, ...part });
  const full = { ...form, name: form.name || (form.team ? `${form.team}-${form.size}` : "") };
  const complete = form.team !== "" && /^\d+$/.test(form.size);
  const asked = useCalm(bodyOf(name, full));
  const preview = useLoad(complete && !made ? `hand-over:${project}:${JSON.stringify(asked)}` : undefined, () => tryPool(project, asked), ["IPPool"]);
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const pool = await makePool(project, bodyOf(name, full));
      await grant(project, pool.metadata.name, form.team);
      setMade(pool);
    } catch (cause) {
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Heading title="Carve for a team" crumbs={[{ to: to.page(project, "pools"), text: "Pools" }, { to: to.pool(project, name), text: name }]}
        note={`The team gets a pool of its own, carved from ${name}, and claims from it as it likes.`} />
      {made ? <HandedOver pool={made} project={project} team={form.team} /> : (
        <div class="columns form-page">
          <form onSubmit={submit}>
            <Team value={form.team} change={(team) => set({ team })} own={project} />
            <Input
              label="Size"
              hint="Length of the prefix: a /24 has 256 addresses."
              inputMode="numeric"
              value={form.size}
              change={(size) => set({ size: size.replace("/", "") })}
            />
            <Input
              label="Name of the pool"
              placeholder={full.name}
              hint="Left empty, the team and the size."
              value={form.name}
              change={(n) => set({ name: n })}
            />
            {error !== undefined && <Trouble error={error} />}
            <button type="submit" class="primary" disabled={busy || !complete}>{busy ? "Carving…" : "Carve and hand over"}</button>
          </form>
          <section aria-label="Preview" aria-live="polite">
            {complete ? (
              <Shown of={preview} rows={2}>
                {(pool) => <Preview pool={pool} />}
              </Shown>
            ) : (
              <p class="note">Name a team to see which block it would get.</p>
            )}
          </section>
        </div>
      )}
    </>
  );
}

function Team({ value, change, own }: { value: string; change: (team: string) => void; own: string }) {
  const projects = useLoad("projects", loadProjects);
  return (
    <Field label="Team" hint="The team's project. It need not exist yet.">
      {(id, described) => (
        <>
          <input
            id={id}
            aria-describedby={described}
            list={`${id}-list`}
            required
            value={value}
            autocomplete="off"
            onInput={(e) => change(e.currentTarget.value.trim())}
          />
          <datalist id={`${id}-list`}>
            {projects.data?.items
              .filter((p) => p.metadata.name !== own)
              .map((p) => (
                <option key={p.metadata.name} value={p.metadata.name} />
              ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

function HandedOver({ pool, project, team }: { pool: Pool; project: string; team: string }) {
  return (
    <div class="outcome good" role="status">
      <p><span class="mono strong big">{pool.status.allocatedCIDR}</span> is {team}'s to claim from.</p>
      <p>Tell the team:</p>
      <Copy label="command for the team" text={`ipamctl claim create -p ${team} --pool ${project}/${pool.metadata.name}`} />
      <p>
        <Link to={to.pool(project, pool.metadata.name)}>Open {pool.metadata.name}</Link> · <Link to={to.page(project, "grants")}>All grants</Link>
      </p>
    </div>
  );
}
