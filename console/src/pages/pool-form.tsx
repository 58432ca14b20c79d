// Creating a pool: a root with its own block, or a child carved from another pool. A dry run shows the result beforehand.
import { useState } from "preact/hooks";
import { api, ask, pagesOf, type Pool, type Schemas } from "../api";
import { errorAt, labelsOf, lengthError, lengthText, nameError } from "../fields";
import { useIntents, useKept } from "../kept";
import { useCalm, useLoad } from "../load";
import { formatCount, parseBlock } from "../net/cidr";
import { go, query, to } from "../router";
import { Badge, Heading, Input, Restored, Select } from "../ui/parts";
import { Shown, Trouble, Unclear } from "../ui/trouble";

type Body = Schemas["IPPoolCreate"];
interface Form {
  name: string;
  root: boolean;
  cidr: string;
  parent: string;
  size: string;
  space: string;
  description: string;
  labels: string;
  shared: boolean;
}

function bodyOf(form: Form): Body {
  const spec: Schemas["IPPoolSpec"] = {};
  if (form.root) {
    spec.cidr = form.cidr;
    if (form.space) spec.spaceRef = { name: form.space };
  } else {
    spec.parentRef = { name: form.parent };
    if (form.cidr) spec.cidr = form.cidr;
    else spec.prefixLength = Number(form.size);
  }
  if (form.description) spec.description = form.description;
  if (form.shared) spec.visibility = "shared";
  const { labels } = labelsOf(form.labels);
  return { metadata: { name: form.name, ...(Object.keys(labels).length > 0 ? { labels } : {}) }, spec };
}

/** Asks the server to create the pool in a dry run. */
export const tryPool = (project: string, body: Body) => ask(api.POST("/v1/projects/{project}/pools", {
  params: { path: { project }, query: { dryRun: true } }, body,
}));

/** Creates the pool. The key is the same for each retry of the same request. */
export const makePool = (project: string, body: Body, key: { "Idempotency-Key": string }) => ask(api.POST("/v1/projects/{project}/pools", {
  params: { path: { project }, header: key }, body,
}));

const previewName = "preview-of-the-console";

/** Returns the errors in the fields that the page can find without the server. */
const wrongIn = (form: Form) => ({
  name: nameError(form.name),
  size: form.root || form.cidr ? undefined : lengthError(form.size),
  cidr: form.cidr !== "" && !parseBlock(form.cidr) ? "This is not a block. Write it as 10.0.0.0/8." : undefined,
  labels: labelsOf(form.labels).error,
});

export function PoolForm({ project }: { project: string }) {
  const parent = query.value.get("parent") ?? "";
  const kept = useKept<Form>("form", () => ({
    name: "", root: parent === "", cidr: "", parent, size: "", space: "", description: "", labels: "", shared: false,
  }));
  const intents = useIntents("pool");
  const form = kept.value;
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const set = (part: Partial<Form>) => { setError(undefined); kept.set({ ...form, ...part }); };
  const wrong = wrongIn(form);
  const complete = form.root ? form.cidr !== "" : form.parent !== "" && (form.cidr !== "" || form.size !== "");
  const sound = complete && !Object.values(wrong).some(Boolean);
  const body = bodyOf(form);
  const asked = useCalm({ ...body, metadata: { ...body.metadata, name: form.name || previewName } });
  const preview = useLoad(sound ? `try-pool:${project}:${JSON.stringify(asked)}` : undefined, () => tryPool(project, asked), busy ? [] : ["IPPool"]);
  const unclear = !busy && intents.unclear(body);
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const pool = await makePool(project, body, intents.keyFor(body));
      intents.done();
      kept.clear();
      go(to.pool(project, pool.metadata.name), true);
    } catch (cause) {
      intents.failed(body, cause);
      setError(cause);
      preview.reload();
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Heading title="New pool" crumbs={[{ to: to.page(project, "pools"), text: "Pools" }]} note="A pool is a block from which others are carved." />
      <div class="columns form-page">
        <form onSubmit={submit}>
          <Restored form={kept} />
          <Fields form={form} set={set} project={project} wrong={wrong} error={error ?? (busy || unclear ? undefined : preview.error)} />
          {error !== undefined && <Trouble error={error} fields={shownAtFields} />}
          <button type="submit" class="primary" disabled={busy || !sound || form.name === ""}>{busy ? "Creating…" : "Create pool"}</button>
        </form>
        <section aria-label="Preview" aria-live="polite">
          {!complete ? <p class="note">Enter a size or a block to see the result.</p>
            : unclear ? <Unclear button="Create pool" />
            : !sound ? <p class="note">Correct the marked fields.</p>
              : <Shown of={preview} rows={2}>{(pool) => <Preview pool={pool} />}</Shown>}
        </section>
      </div>
    </>
  );
}

const shownAtFields = ["Name", "Parent pool", "Size", "Block", "Space", "Description", "Labels"];

interface FieldsProps {
  form: Form;
  set: (part: Partial<Form>) => void;
  project: string;
  wrong: ReturnType<typeof wrongIn>;
  error: unknown;
}

function Fields({ form, set, project, wrong, error }: FieldsProps) {
  const spaces = useLoad(`spaces:${project}`, () => pagesOf<Schemas["Space"]>(
    (cursor) => ask(api.GET("/v1/projects/{project}/spaces", { params: { path: { project }, query: { limit: 500, ...(cursor ? { cursor } : {}) } } })), 2000,
  ));
  return (
    <>
      <Input label="Name" required value={form.name} change={(name) => set({ name })} error={wrong.name ?? errorAt(error, "Name")} />
      <Select
        label="Carved from"
        value={form.root ? "space" : "pool"}
        change={(v) => set({ root: v === "space" })}
        options={[
          ["space", "A space: a root pool with its own block"],
          ["pool", "Another pool: a child pool"],
        ]}
      />
      {form.root && (
        <Select
          label="Space"
          value={form.space}
          hint={spaces.data?.cursor ? "The first 2,000 spaces in order of name." : undefined}
          change={(space) => set({ space })}
          options={[
            ["", "default"],
            ...(spaces.data?.items
              .map((s) => s.metadata.name)
              .filter((n) => n !== "default")
              .map((n): [string, string] => [n, n]) ?? []),
          ]}
        />
      )}
      {!form.root && <Input label="Parent pool" value={form.parent} change={(parent) => set({ parent: parent.trim() })} error={errorAt(error, "Parent pool")} />}
      {!form.root && (
        <Input
          label="Size"
          hint="Prefix length, such as 20: the parent chooses the block."
          inputMode="numeric"
          value={form.size}
          error={wrong.size ?? errorAt(error, "Size")}
          disabled={form.cidr !== ""}
          change={(size) => set({ size: lengthText(size) })}
        />
      )}
      <Input
        label={form.root ? "Block" : "Exact block"}
        hint={form.root ? "Such as 10.0.0.0/8" : "If empty, the parent chooses."}
        value={form.cidr}
        error={wrong.cidr ?? errorAt(error, "Block")}
        change={(cidr) => set({ cidr: cidr.trim() })}
      />
      <Input label="Description" value={form.description} change={(description) => set({ description })} />
      <Input label="Labels" hint="env=prod region=eu" value={form.labels} change={(labels) => set({ labels })} error={wrong.labels ?? errorAt(error, "Labels")} />
      <label class="check">
        <input type="checkbox" checked={form.shared} onChange={(e) => set({ shared: e.currentTarget.checked })} /> Shared: projects with a grant
        can claim from it
      </label>
    </>
  );
}

export function Preview({ pool }: { pool: Pool }) {
  return (
    <div class="outcome good">
      <p>
        <Badge kind="good">Would be carved</Badge> <span class="mono strong big">{pool.status.allocatedCIDR}</span>
      </p>
      <p>
        {formatCount(pool.status.capacity.total)} addresses
        {pool.status.parentRef ? ` from ${pool.status.parentRef.name}` : ` in space ${pool.status.spaceRef.name}`}.
      </p>
    </div>
  );
}
