// Carving a block for a team and handing it over: a shared child pool, and the grant that lets the team claim from it.
import { useState } from "preact/hooks";
import { api, ask, isGone, Refused, type Pool } from "../api";
import { claimCommand } from "../copies";
import { errorAt, lengthError, lengthText, nameError } from "../fields";
import { useIntents, useKept } from "../kept";
import { useCalm, useLoad } from "../load";
import { getPool, ignoreGone } from "../pools";
import { Link, to } from "../router";
import { loadProjects } from "../shell";
import { Copy, Heading, Input, Restored } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";
import { makePool, Preview, tryPool } from "./pool-form";

interface Form { team: string; size: string; name: string }

const bodyOf = (parent: string, form: Form) => ({
  metadata: { name: form.name, labels: { team: form.team } },
  spec: { parentRef: { name: parent }, prefixLength: Number(form.size), visibility: "shared" as const },
});
type Body = ReturnType<typeof bodyOf>;

export const grant = (project: string, pool: string, consumer: string) => ask(api.PUT("/v1/projects/{project}/pools/{pool}/grants/{consumer}", {
  params: { path: { project, pool, consumer } },
}));

const grantOf = (project: string, pool: string, consumer: string) => ask(api.GET("/v1/projects/{project}/pools/{pool}/grants/{consumer}", {
  params: { path: { project, pool, consumer } },
})).catch(ignoreGone);

/** Reports whether a pool matches the form, because an earlier attempt created it. */
const isWanted = (pool: Pool, { spec, metadata }: Body) =>
  pool.status.parentRef?.name === spec.parentRef.name && pool.spec.visibility === "shared" && pool.metadata.labels?.team === metadata.labels.team &&
  Number(pool.status.allocatedCIDR.split("/")[1]) === spec.prefixLength;

/** The pool that would be carved, or the pool of an earlier attempt, which may lack its grant. */
interface Outlook { pool: Pool; exists: boolean; granted: boolean }

async function outlook(project: string, body: Body): Promise<Outlook> {
  try {
    return { pool: await tryPool(project, body), exists: false, granted: false };
  } catch (cause) {
    if (!(cause instanceof Refused) || cause.problem.code !== "already_exists") throw cause;
    const pool = await getPool(project, body.metadata.name);
    if (!isWanted(pool, body)) throw cause;
    return { pool, exists: true, granted: (await grantOf(project, body.metadata.name, body.metadata.labels.team)) !== undefined };
  }
}

export function HandOver({ project, name }: { project: string; name: string }) {
  const form = useKept<Form>("form", () => ({ team: "", size: "24", name: "" }));
  const intents = useIntents("pool");
  const [made, setMade] = useState<Pool | undefined>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const { team, size } = form.value;
  const set = (part: Partial<Form>) => form.set({ ...form.value, ...part });
  const full = { ...form.value, name: form.value.name || (team ? `${team}-${size}` : "") };
  const wrong = { team: nameError(team), size: lengthError(size), name: nameError(form.value.name) };
  const complete = team !== "" && size !== "" && !Object.values(wrong).some(Boolean);
  const asked = useCalm(bodyOf(name, full));
  const preview = useLoad(complete && !made ? `hand-over:${project}:${JSON.stringify(asked)}` : undefined, () => outlook(project, asked), ["IPPool"]);
  const body = bodyOf(name, full);
  const current = preview.data && JSON.stringify(asked) === JSON.stringify(body) ? preview.data : undefined;
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const pool = current?.exists ? current.pool : await makePool(project, body, intents.keyFor(body));
      await grant(project, pool.metadata.name, team);
      intents.done();
      form.clear();
      setMade(pool);
    } catch (cause) {
      setError(cause);
      preview.reload();
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Heading title="Carve for a team" crumbs={[{ to: to.page(project, "pools"), text: "Pools" }, { to: to.pool(project, name), text: name }]}
        note={`The team gets its own pool, carved from ${name}, and can claim from it.`} />
      {made ? <HandedOver pool={made} project={project} team={made.metadata.labels!.team!} /> : (
        <div class="columns form-page">
          <form onSubmit={submit}>
            <Restored form={form} />
            <Team label="Team" hint="The team's project." value={team} change={(next) => set({ team: next })} own={project} error={wrong.team} />
            <Input label="Size" hint="Prefix length: a /24 has 256 addresses." inputMode="numeric" value={size} error={wrong.size}
              change={(next) => set({ size: lengthText(next) })} />
            <Input label="Name of the pool" placeholder={full.name} hint="If empty, the team and the size." value={form.value.name}
              error={wrong.name ?? errorAt(error, "Name")} change={(next) => set({ name: next })} />
            {error !== undefined && <Trouble error={error} fields={["Name"]} />}
            <button type="submit" class="primary" disabled={busy || !complete || current?.granted}>
              {busy ? "Carving…" : current?.exists ? "Grant the pool" : "Carve and hand over"}
            </button>
          </form>
          <section aria-label="Preview" aria-live="polite">
            {complete ? <Shown of={preview} rows={2}>{(found) => <Ahead found={found} project={project} team={team} />}</Shown>
              : <p class="note">Name a team to see the block that it would get.</p>}
          </section>
        </div>
      )}
    </>
  );
}

function Ahead({ found: { pool, exists, granted }, project, team }: { found: Outlook; project: string; team: string }) {
  if (!exists) return <Preview pool={pool} />;
  return (
    <div class="outcome">
      <p><Link to={to.pool(project, pool.metadata.name)}>{pool.metadata.name}</Link> exists already, with <span class="mono strong">{pool.status.allocatedCIDR}</span>.</p>
      <p>{granted ? `${team} can claim from it. For another pool choose another name.` : `${team} cannot claim from it yet: the grant is missing.`}</p>
    </div>
  );
}

type TeamProps = { label: string; hint: string; value: string; change: (team: string) => void; own: string; error?: string | undefined };

/** The input for the project that gets something. The server accepts any name; the page warns if it cannot see the project. */
export function Team({ label, hint, value, change, own, error }: TeamProps) {
  const projects = useLoad("projects", loadProjects);
  const names = projects.data?.items.map((p) => p.metadata.name).filter((name) => name !== own) ?? [];
  const calm = useCalm(value, 300);
  const askFor = calm !== "" && calm !== "*" && !nameError(calm) && !names.includes(calm);
  const found = useLoad(askFor ? `project:${calm}` : undefined, () => ask(api.GET("/v1/projects/{project}", { params: { path: { project: calm } } })));
  const unknown = askFor && calm === value && isGone(found.error);
  return (
    <>
      <Input label={label} hint={hint} required value={value} change={(next) => change(next.trim())} suggest={names} error={error} />
      {unknown && (
        <p class="warning" role="status">
          You can see no project {value}. Check the name: if it does not exist yet, the first project created with this name gets the block.
        </p>
      )}
    </>
  );
}

function HandedOver({ pool, project, team }: { pool: Pool; project: string; team: string }) {
  return (
    <div class="outcome good" role="status">
      <p>Project {team} can now claim from <span class="mono strong big">{pool.status.allocatedCIDR}</span>.</p>
      <p>This command claims its first block. You can change the name and the size.</p>
      <Copy label="command for the team" text={claimCommand(team, project, pool)} />
      <p>
        <Link to={to.pool(project, pool.metadata.name)}>Open {pool.metadata.name}</Link> · <Link to={to.page(project, "grants")}>All grants</Link>
      </p>
    </div>
  );
}
