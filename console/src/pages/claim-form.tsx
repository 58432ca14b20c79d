// Claiming a block: what would be decided is shown while the form is filled in, before anything is sent.
import { useState } from "preact/hooks";
import { api, ask, newKey, type Remedy, type Schemas } from "../api";
import { asCurl, asIpamctl, asTerraform } from "../copies";
import { useCalm, useLoad } from "../load";
import { parseBlock } from "../net/cidr";
import { go, query, to } from "../router";
import { may } from "../session";
import { Copy, Heading, Input, Select, Tabs, Panel } from "../ui/parts";
import { Outcome } from "../ui/outcome";
import { Shown, Trouble } from "../ui/trouble";

interface Form { name: string; from: "pool" | "class" | "default"; pool: string; className: string; size: string; cidr: string; labels: string }

/** The body of the request that the form stands for. */
function bodyOf(form: Form, project: string): Schemas["IPClaimCreate"] {
  const [owner, pool] = form.pool.includes("/") ? form.pool.split("/") : [project, form.pool];
  const spec: Schemas["IPClaimSpec"] = {};
  if (form.from === "pool" && pool) spec.poolRef = owner === project ? { name: pool } : { project: owner!, name: pool };
  if (form.from === "class" && form.className) spec.className = form.className;
  if (form.cidr) spec.cidr = form.cidr.includes("/") ? form.cidr : `${form.cidr}/${form.cidr.includes(":") ? 128 : 32}`;
  else if (/^\d+$/.test(form.size)) spec.prefixLength = Number(form.size);
  const labels = Object.fromEntries(
    form.labels
      .split(/[\s,]+/)
      .filter((l) => l.includes("="))
      .map((l) => [l.slice(0, l.indexOf("=")), l.slice(l.indexOf("=") + 1)]),
  );
  const metadata: Schemas["CreateMetadata"] = form.name ? { name: form.name } : { generateName: "claim-" };
  if (Object.keys(labels).length > 0) metadata.labels = labels;
  return { metadata, spec };
}

/** Writes a remedy into the form, where the form has the field. */
function remedied(form: Form, { pointer, value }: Remedy): Form {
  if (value === undefined) return form;
  if (pointer === "/spec/prefixLength") return { ...form, size: value, cidr: "" };
  if (pointer === "/spec/cidr" || pointer === "/spec/address") return { ...form, cidr: value };
  if (pointer === "/spec/className") return { ...form, from: "class", className: value };
  if (pointer?.startsWith("/spec/poolRef")) return { ...form, from: "pool", pool: value };
  return form;
}

function begin(): Form {
  const q = query.value;
  const pool = q.get("pool") ?? "";
  return { name: "", from: pool ? "pool" : "default", pool, className: "", size: q.get("size") ?? "", cidr: q.get("cidr") ?? "", labels: "" };
}

export function ClaimForm({ project }: { project: string }) {
  const [form, setForm] = useState(begin);
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const body = bodyOf(form, project);
  const complete = form.from === "default" || (form.from === "pool" ? form.pool !== "" : form.className !== "");
  const asked = useCalm(body.spec, 250);
  const explained = useLoad(
    complete ? `explain:${project}:${JSON.stringify(asked)}` : undefined,
    () =>
      ask(
        api.POST("/v1/projects/{project}/claim-explanations", {
          params: { path: { project } },
          body: { spec: asked },
        }),
      ),
    ["IPAllocation", "IPClaim", "IPPool", "Quota"],
  );
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const claim = await ask(api.POST("/v1/projects/{project}/claims", { params: { path: { project }, header: newKey() }, body }));
      go(to.claim(project, claim.metadata.name));
    } catch (cause) {
      setError(cause);
      explained.reload();
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <Heading
        title="Claim a block"
        note="What you would get is shown while you type. Nobody holds it before you claim."
        crumbs={[{ to: to.page(project, "claims"), text: "Claims" }]}
      />
      <div class="columns form-page">
        <form onSubmit={submit}>
          <Fields form={form} change={setForm} project={project} />
          {error !== undefined && <Trouble error={error} />}
          <button type="submit" class="primary" disabled={busy || !complete || !may("consumer", project)}>{busy ? "Claiming…" : "Claim"}</button>
        </form>
        <section aria-label="What you would get" aria-live="polite">
          {complete ? <Shown of={explained} rows={3}>{(answer) => <Outcome answer={answer} apply={(r) => setForm(remedied(form, r))} />}</Shown>
            : <p class="note">Choose where the block is to come from.</p>}
          <Same project={project} body={body} />
        </section>
      </div>
    </>
  );
}

function Fields({ form, change, project }: { form: Form; change: (form: Form) => void; project: string }) {
  const classes = useLoad(`classes:${project}`, () =>
    ask(api.GET("/v1/projects/{project}/classes", { params: { path: { project }, query: { limit: 200 } } })),
  );
  const names = classes.data?.items.map((c) => c.metadata.name) ?? [];
  const set = (part: Partial<Form>) => change({ ...form, ...part });
  const wrong = form.cidr !== "" && !parseBlock(form.cidr) ? "This is neither an address nor a block." : undefined;
  return (
    <>
      <Input label="Name" hint="Left empty, the server makes one up." value={form.name} change={(name) => set({ name })} />
      <Select
        label="From"
        value={form.from}
        change={(from) => set({ from: from as Form["from"] })}
        options={[
          ["default", "The default class"],
          ["class", "A class"],
          ["pool", "A pool"],
        ]}
      />
      {form.from === "class" && (
        <Select
          label="Class"
          value={form.className}
          change={(className) => set({ className })}
          options={[["", "Choose…"], ...names.map((n): [string, string] => [n, n])]}
        />
      )}
      {form.from === "pool" && (
        <Input
          label="Pool"
          hint="A pool of this project, or project/name of one that was granted to it."
          value={form.pool}
          change={(pool) => set({ pool })}
        />
      )}
      <Input
        label="Size"
        hint="Length of the prefix, such as 28. Left empty, the default."
        inputMode="numeric"
        value={form.size}
        change={(size) => set({ size: size.replace("/", "") })}
        disabled={form.cidr !== ""}
      />
      <Input
        label="This very block or address"
        hint="Left empty, the pool chooses."
        value={form.cidr}
        error={wrong}
        change={(cidr) => set({ cidr })}
      />
      <Input label="Labels" hint="env=prod team=web" value={form.labels} change={(labels) => set({ labels })} />
    </>
  );
}

function Same({ project, body }: { project: string; body: Schemas["IPClaimCreate"] }) {
  const [tool, setTool] = useState("curl");
  const texts: Record<string, string> = { curl: asCurl(project, body), ipamctl: asIpamctl(project, body), terraform: asTerraform(project, body) };
  return (
    <details class="same">
      <summary>The same as curl, ipamctl, Terraform</summary>
      <Tabs label="Tool" tabs={[["curl", "curl"], ["ipamctl", "ipamctl"], ["terraform", "Terraform"]]} chosen={tool} choose={setTool} />
      <Panel name={tool}><Copy label={tool} text={texts[tool]!} /></Panel>
    </details>
  );
}
