// Creating a pool: a root with a block of its own, or a child carved from another pool. A dry run shows what would come of it.
import { useState } from "preact/hooks";
import { api, ask, newKey, type Pool, type Schemas } from "../api";
import { useCalm, useLoad } from "../load";
import { formatCount, parseBlock } from "../net/cidr";
import { go, query, to } from "../router";
import { Badge, Heading, Input, Select } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

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

export const labelsOf = (text: string) => Object.fromEntries(
  text.split(/[\s,]+/).filter((l) => l.includes("=")).map((l) => [l.slice(0, l.indexOf("=")), l.slice(l.indexOf("=") + 1)]),
);

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
  const labels = labelsOf(form.labels);
  return { metadata: { name: form.name, ...(Object.keys(labels).length > 0 ? { labels } : {}) }, spec };
}

/** What creating it would do, decided by the server and rolled back. */
export const tryPool = (project: string, body: Body) => ask(api.POST("/v1/projects/{project}/pools", {
  params: { path: { project }, query: { dryRun: true } }, body,
}));

export const makePool = (project: string, body: Body) => ask(api.POST("/v1/projects/{project}/pools", {
  params: { path: { project }, header: newKey() }, body,
}));

const previewName = "preview-of-the-console";

export function PoolForm({ project }: { project: string }) {
  const parent = query.value.get("parent") ?? "";
  const [form, setForm] = useState<Form>({
    name: "",
    root: parent === "",
    cidr: "",
    parent,
    size: "",
    space: "",
    description: "",
    labels: "",
    shared: false,
  });
  const [error, setError] = useState<unknown>();
  const set = (part: Partial<Form>) => setForm({ ...form, ...part });
  const complete = form.root
    ? parseBlock(form.cidr) !== undefined
    : form.parent !== "" && (parseBlock(form.cidr) !== undefined || /^\d+$/.test(form.size));
  const body = bodyOf(form);
  const asked = useCalm({ ...body, metadata: { ...body.metadata, name: form.name || previewName } });
  const preview = useLoad(complete ? `try-pool:${project}:${JSON.stringify(asked)}` : undefined, () => tryPool(project, asked), ["IPPool"]);
  const submit = async (e: Event) => {
    e.preventDefault();
    setError(undefined);
    try {
      const pool = await makePool(project, body);
      go(to.pool(project, pool.metadata.name));
    } catch (cause) {
      setError(cause);
    }
  };
  return (
    <>
      <Heading title="New pool" crumbs={[{ to: to.page(project, "pools"), text: "Pools" }]} note="A pool is a block from which others are carved." />
      <div class="columns form-page">
        <form onSubmit={submit}>
          <Fields form={form} set={set} project={project} />
          {error !== undefined && <Trouble error={error} />}
          <button type="submit" class="primary" disabled={!complete || form.name === ""}>Create pool</button>
        </form>
        <section aria-label="Preview" aria-live="polite">
          {complete ? (
            <Shown of={preview} rows={2}>
              {(pool) => <Preview pool={pool} />}
            </Shown>
          ) : (
            <p class="note">Give a size or a block to see what would be carved.</p>
          )}
        </section>
      </div>
    </>
  );
}

function Fields({ form, set, project }: { form: Form; set: (part: Partial<Form>) => void; project: string }) {
  const spaces = useLoad(`spaces:${project}`, () =>
    ask(api.GET("/v1/projects/{project}/spaces", { params: { path: { project }, query: { limit: 200 } } })),
  );
  const wrong = form.cidr !== "" && !parseBlock(form.cidr) ? "This is no block." : undefined;
  return (
    <>
      <Input label="Name" required value={form.name} change={(name) => set({ name })} />
      <Select
        label="Carved from"
        value={form.root ? "space" : "pool"}
        change={(v) => set({ root: v === "space" })}
        options={[
          ["space", "A space: a root with a block of its own"],
          ["pool", "Another pool: a child"],
        ]}
      />
      {form.root && (
        <Select
          label="Space"
          value={form.space}
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
      {!form.root && <Input label="Parent pool" value={form.parent} change={(parent) => set({ parent })} />}
      {!form.root && (
        <Input
          label="Size"
          hint="Length of the prefix, such as 20: the parent chooses where."
          inputMode="numeric"
          value={form.size}
          disabled={form.cidr !== ""}
          change={(size) => set({ size: size.replace("/", "") })}
        />
      )}
      <Input
        label={form.root ? "Block" : "This very block"}
        hint={form.root ? "Such as 10.0.0.0/8" : "Left empty, the parent chooses."}
        value={form.cidr}
        error={wrong}
        change={(cidr) => set({ cidr })}
      />
      <Input label="Description" value={form.description} change={(description) => set({ description })} />
      <Input label="Labels" hint="env=prod region=eu" value={form.labels} change={(labels) => set({ labels })} />
      <label class="check">
        <input type="checkbox" checked={form.shared} onChange={(e) => set({ shared: e.currentTarget.checked })} /> Other projects that are granted it
        may claim from it
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
