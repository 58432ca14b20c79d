// Claiming a block. The form shows the server's decision while the user fills it in, before it sends the claim.
import { useState } from "preact/hooks";
import { api, ask, Refused, type Remedy, type Schemas } from "../api";
import { asCurl, asIpamctl, asTerraform } from "../copies";
import { errorAt, labelsOf, lengthError, lengthText, nameError } from "../fields";
import { useIntents, useKept } from "../kept";
import { useCalm, useLoad, type Loaded } from "../load";
import { parseBlock } from "../net/cidr";
import { ignoreGone } from "../pools";
import { go, query, to } from "../router";
import { may } from "../session";
import { Copy, Heading, Input, Restored, Select, Tabs, Panel } from "../ui/parts";
import { Outcome } from "../ui/outcome";
import { Shown, Trouble, Unclear } from "../ui/trouble";

type From = "pool" | "class" | "default";
interface Form { name: string; from: From | ""; pool: string; className: string; size: string; cidr: string; labels: string }

/** Returns the request body for the form. */
function bodyOf(form: Form, project: string): Schemas["IPClaimCreate"] {
  const [owner, pool] = form.pool.includes("/") ? form.pool.split("/") : [project, form.pool];
  const spec: Schemas["IPClaimSpec"] = {};
  if (form.from === "pool" && pool) spec.poolRef = owner === project ? { name: pool } : { project: owner!, name: pool };
  if (form.from === "class" && form.className) spec.className = form.className;
  if (form.cidr) spec.cidr = form.cidr.includes("/") ? form.cidr : `${form.cidr}/${form.cidr.includes(":") ? 128 : 32}`;
  else if (form.size) spec.prefixLength = Number(form.size);
  const { labels } = labelsOf(form.labels);
  const metadata: Schemas["CreateMetadata"] = form.name ? { name: form.name } : { generateName: "claim-" };
  if (Object.keys(labels).length > 0) metadata.labels = labels;
  return { metadata, spec };
}

/** Applies a remedy to the form, if the form has the field. */
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
  return { name: "", from: pool ? "pool" : "", pool, className: "", size: q.get("size") ?? "", cidr: q.get("cidr") ?? "", labels: "" };
}

type Classes = Loaded<Schemas["IPClassList"]>;

/** Returns the source of a claim until the user chooses one: the default class if there is one, else the only class, else a pool. */
function chosen(form: Form, classes: Classes): Form {
  if (form.from !== "" || !classes.data) return form;
  const { items, nextCursor } = classes.data;
  if (nextCursor || items.some((c) => c.spec.isDefault)) return { ...form, from: "default" };
  return items.length === 1 ? { ...form, from: "class", className: items[0]!.metadata.name } : { ...form, from: items.length > 0 ? "class" : "pool" };
}

/** Returns the errors in the fields that the page can find without the server. */
const wrongIn = (form: Form) => ({
  name: nameError(form.name),
  size: form.cidr === "" ? lengthError(form.size) : undefined,
  cidr: form.cidr !== "" && !parseBlock(form.cidr) ? "This is neither an address nor a block." : undefined,
  labels: labelsOf(form.labels).error,
});

export function ClaimForm({ project }: { project: string }) {
  const kept = useKept("form", begin);
  const intents = useIntents("claim");
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const classes = useLoad(`classes:${project}`, () => ask(api.GET("/v1/projects/{project}/classes", { params: { path: { project }, query: { limit: 500 } } })));
  const form = chosen(kept.value, classes);
  const body = bodyOf(form, project);
  const wrong = wrongIn(form);
  const complete = form.from === "default" || (form.from === "pool" ? form.pool !== "" : form.className !== "");
  const sound = complete && !Object.values(wrong).some(Boolean);
  const asked = useCalm(body.spec, 250);
  const explained = useLoad(sound ? `explain:${project}:${JSON.stringify(asked)}` : undefined, () => ask(api.POST("/v1/projects/{project}/claim-explanations", {
    params: { path: { project } }, body: { spec: asked },
  })), ["IPAllocation", "IPClaim", "IPPool", "Quota"]);
  const name = useCalm(form.name, 250);
  const taken = useLoad(name && !nameError(name) ? `claim-named:${project}:${name}` : undefined, () => ask(api.GET("/v1/projects/{project}/claims/{claim}", {
    params: { path: { project, claim: name } },
  })).catch(ignoreGone), ["IPClaim"]);
  const unclear = !busy && intents.unclear(body);
  const nameTaken = taken.data && form.name === name && !busy && !unclear ? "This project already has a claim with this name." : undefined;
  const submit = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const claim = await ask(api.POST("/v1/projects/{project}/claims", { params: { path: { project }, header: intents.keyFor(body) }, body }));
      intents.done();
      kept.clear();
      go(to.claim(project, claim.metadata.name), true);
    } catch (cause) {
      // The first attempt succeeded and its claim has been released since: the next press requests another claim.
      if (cause instanceof Refused && cause.problem.code === "claim_released") intents.done();
      intents.failed(body, cause);
      setError(cause);
      explained.reload();
    } finally {
      setBusy(false);
    }
  };
  const change = (next: Form) => { setError(undefined); kept.set(next); };
  return (
    <>
      <Heading
        title="Claim a block"
        note="The preview changes while you type and reserves nothing. Press Claim to get the block."
        crumbs={[{ to: to.page(project, "claims"), text: "Claims" }]}
      />
      <div class="columns form-page">
        <form onSubmit={submit}>
          <Restored form={kept} />
          <Fields form={form} change={change} classes={classes} error={error} wrong={{ ...wrong, name: wrong.name ?? nameTaken }} />
          {error !== undefined && <Trouble error={error} fields={["Name", "Size", "Block", "Labels", "Pool", "Class"]} />}
          <button type="submit" class="primary" disabled={busy || !sound || !may("consumer", project)}>{busy ? "Claiming…" : "Claim"}</button>
        </form>
        <section aria-label="Preview" aria-live="polite">
          {!complete ? <p class="note">{classes.loading && form.from === "" ? "Looking for classes…" : "Choose the source of the block."}</p>
            : unclear ? <Unclear button="Claim" />
            : !sound || nameTaken ? <p class="note">Correct the marked fields.</p>
              : <Shown of={explained} rows={3}>{(answer) => <Outcome answer={answer} apply={(r) => change(remedied(form, r))} />}</Shown>}
          <Same project={project} body={body} />
        </section>
      </div>
    </>
  );
}

interface FieldsProps {
  form: Form;
  change: (form: Form) => void;
  classes: Classes;
  error: unknown;
  wrong: { [field in "name" | "size" | "cidr" | "labels"]: string | undefined };
}

function Fields({ form, change, classes, error, wrong }: FieldsProps) {
  const set = (part: Partial<Form>) => change({ ...form, ...part });
  const names = [...new Set(classes.data?.items.map((c) => c.metadata.name))]; // a class of the project hides a platform class of the same name
  return (
    <>
      <Input label="Name" hint="If empty, the server chooses a name." value={form.name} change={(name) => set({ name })} error={wrong.name ?? errorAt(error, "Name")} />
      <Select
        label="From"
        value={form.from}
        change={(from) => set({ from: from as Form["from"] })}
        options={[
          ...(form.from === "" ? [["", "Choose…"] as [string, string]] : []),
          ["default", "The default class"],
          ["class", "A class"],
          ["pool", "A pool"],
        ]}
      />
      {form.from === "class" && !classes.data?.nextCursor && (
        <Select
          label="Class"
          hint={names.length === 0 && !classes.loading ? "This project can use no class. Claim from a pool." : undefined}
          value={form.className}
          change={(className) => set({ className })}
          options={[["", "Choose…"], ...names.map((n): [string, string] => [n, n])]}
        />
      )}
      {form.from === "class" && classes.data?.nextCursor && (
        <Input label="Class" hint="This project has many classes: the first 500 are suggested." value={form.className} suggest={names}
          change={(className) => set({ className })} error={errorAt(error, "Class")} />
      )}
      {form.from === "pool" && (
        <Input
          label="Pool"
          hint="A pool in this project, or project/name of a granted pool."
          value={form.pool}
          error={errorAt(error, "Pool")}
          change={(pool) => set({ pool: pool.trim() })}
        />
      )}
      <Input
        label="Size"
        hint="Prefix length, such as 28. If empty, the default."
        inputMode="numeric"
        value={form.size}
        error={wrong.size ?? errorAt(error, "Size")}
        change={(size) => set({ size: lengthText(size) })}
        disabled={form.cidr !== ""}
      />
      <Input
        label="Exact block or address"
        hint="If empty, the pool chooses."
        value={form.cidr}
        error={wrong.cidr ?? errorAt(error, "Block")}
        change={(cidr) => set({ cidr: cidr.trim() })}
      />
      <Input label="Labels" hint="env=prod team=web" value={form.labels} change={(labels) => set({ labels })} error={wrong.labels ?? errorAt(error, "Labels")} />
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
