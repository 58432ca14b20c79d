// Alerts: what is used to the percentage that somebody set, and the rules that say so.
import { useState } from "preact/hooks";
import { api, ask, asSeen, newKey, type Schemas } from "../api";
import { formatDuration, formatTime, hoursOf } from "../format";
import { useLoad } from "../load";
import { Link, to } from "../router";
import { may } from "../session";
import { Badge, Bar, Card, Dialog, Empty, Heading, Input, Select, Table, When } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

type Rule = Schemas["AlertRule"];

export const useAlerts = (project: string) => useLoad(`alerts:${project}`, () => ask(api.GET("/v1/projects/{project}/alerts", {
  params: { path: { project }, query: { limit: 500 } },
})), ["Alert"]);

export function AlertsPage({ project }: { project: string }) {
  const alerts = useAlerts(project);
  const rules = useLoad(`alert-rules:${project}`, () => ask(api.GET("/v1/projects/{project}/alert-rules", {
    params: { path: { project }, query: { limit: 100 } },
  })), ["Alert"]);
  const [editing, setEditing] = useState<Rule | "new" | undefined>();
  const done = () => { setEditing(undefined); rules.reload(); alerts.reload(); };
  return (
    <>
      <Heading title="Alerts" note="Pools and quotas that are nearly full, or will be soon, as the rules say. Webhooks send them on.">
        {may("provider", project) && <button type="button" class="primary" onClick={() => setEditing("new")}>New rule</button>}
      </Heading>
      <div class="stack">
        <Card title="Now"><Shown of={alerts}>{({ items }) => <Alerts alerts={items} project={project} />}</Shown></Card>
        <Card title="Rules"><Shown of={rules}>{({ items }) => <Rules rules={items} project={project} edit={setEditing} />}</Shown></Card>
      </div>
      {editing && <Edit project={project} rule={editing === "new" ? undefined : editing} close={() => setEditing(undefined)} done={done} />}
    </>
  );
}

export function Alerts({ alerts, project }: { alerts: Schemas["Alert"][]; project: string }) {
  if (alerts.length === 0) return <Empty>There are no alerts.</Empty>;
  return (
    <ul class="plain">
      {alerts.map((alert) => (
        <li key={alert.name} class="line">
          <Badge kind="bad">{alert.subject.kind === "IPPool" ? "Pool" : "Quota"}</Badge>
          <Link class="strong" to={alert.subject.kind === "IPPool" ? to.pool(project, alert.subject.name, "?tab=why") : to.page(project, "quotas")}>
            {alert.subject.name}
          </Link>
          <span class="note">
            {alert.ruleName}: {alert.runsOutAt ? `full on ${formatTime(alert.runsOutAt)}` : from(alert)}, since <When at={alert.since} />
          </span>
          {alert.percentNow !== undefined && <Bar percent={alert.percentNow} label={alert.subject.name} />}
        </li>
      ))}
    </ul>
  );
}

function Rules({ rules, project, edit }: { rules: Rule[]; project: string; edit: (rule: Rule) => void }) {
  if (rules.length === 0) return <Empty>There are no rules, so there are no alerts.</Empty>;
  return (
    <Table label="Alert rules" head={["Rule", "About", "When", "Alerts", "Looked", "Change"]}>
      {rules.map((rule) => (
        <tr key={rule.metadata.uid}>
          <th scope="row">{rule.metadata.name}</th>
          <td>{about(rule.spec)}</td>
          <td>{from(rule.spec)}</td>
          <td class="number">{rule.status.alerts}</td>
          <td>{rule.status.lookedAt ? <When at={rule.status.lookedAt} /> : "not yet"}</td>
          <td>
            {may("provider", project) && (
              <button type="button" class="quiet" aria-label={`Change ${rule.metadata.name}`} onClick={() => edit(rule)}>
                Change
              </button>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** From when on there is an alert. */
function from({ percent, runway }: { percent?: number; runway?: string }): string {
  return runway ? `full within ${formatDuration(runway)}` : `${percent} % or more`;
}

function about({ about: what, className, labelSelector, resourceName }: Schemas["AlertRuleSpec"]): string {
  const only = [resourceName, className && `of class ${className}`, labelSelector && `with ${labelSelector}`].filter(Boolean).join(", ");
  return only ? `${what}: ${only}` : `All ${what.toLowerCase()}`;
}

interface Form {
  name: string; about: Schemas["AlertRuleAbout"]; by: "percent" | "runway"; percent: string; days: string;
  resourceName: string; className: string; labelSelector: string;
}

const formOf = (rule: Rule | undefined): Form => ({
  name: rule?.metadata.name ?? "", about: rule?.spec.about ?? "Pools", by: rule?.spec.runway ? "runway" : "percent",
  percent: String(rule?.spec.percent ?? 80), days: String(rule?.spec.runway ? hoursOf(rule.spec.runway) / 24 : 7),
  resourceName: rule?.spec.resourceName ?? "", className: rule?.spec.className ?? "", labelSelector: rule?.spec.labelSelector ?? "",
});

/** Makes the rule, or changes it; an empty field is none. */
function save(project: string, rule: Rule | undefined, { name, about: what, by, percent, days, resourceName, className, labelSelector }: Form) {
  const level = what === "Pools" && by === "runway" ? { runway: `${Math.round(24 * Number(days))}h` } : { percent: Number(percent) };
  const narrow = what === "Pools" ? { resourceName, className, labelSelector } : { resourceName };
  if (rule) {
    const spec = { percent: null, runway: null, ...level, ...Object.fromEntries(Object.entries(narrow).map(([k, v]) => [k, v || null])) };
    return ask(api.PATCH("/v1/projects/{project}/alert-rules/{alertRule}", {
      params: { path: { project, alertRule: rule.metadata.name }, header: asSeen(rule) }, body: { spec },
    }));
  }
  const spec = { about: what, ...level, ...Object.fromEntries(Object.entries(narrow).filter(([, v]) => v)) };
  return ask(api.POST("/v1/projects/{project}/alert-rules", { params: { path: { project }, header: newKey() }, body: { metadata: { name }, spec } }));
}

function Edit({ project, rule, close, done }: { project: string; rule: Rule | undefined; close: () => void; done: () => void }) {
  const [form, setForm] = useState(() => formOf(rule));
  const [error, setError] = useState<unknown>();
  const set = (part: Partial<Form>) => setForm({ ...form, ...part });
  const submit = (e: Event) => {
    e.preventDefault();
    save(project, rule, form).then(done, setError);
  };
  const remove = () => ask(api.DELETE("/v1/projects/{project}/alert-rules/{alertRule}", {
    params: { path: { project, alertRule: form.name }, header: asSeen(rule!) },
  })).then(done, setError);
  return (
    <Dialog title={rule ? `Change ${form.name}` : "New rule"} close={close}>
      <form onSubmit={submit}>
        {!rule && <Input label="Name" required value={form.name} change={(name) => set({ name })} />}
        {!rule && (
          <Select
            label="About"
            value={form.about}
            change={(v) => set({ about: v as Form["about"] })}
            options={[
              ["Pools", "Pools"],
              ["Quotas", "Quotas"],
            ]}
          />
        )}
        {form.about === "Pools" && (
          <Select label="When" value={form.by} change={(by) => set({ by: by as Form["by"] })}
            options={[["percent", "So much is used"], ["runway", "It will be full soon"]]} />
        )}
        {form.about === "Pools" && form.by === "runway" ? (
          <Input label="Within how many days" inputMode="numeric" required value={form.days} change={(days) => set({ days })}
            hint="If it fills up as it did lately." />
        ) : (
          <Input label="From how many percent on" inputMode="numeric" required value={form.percent} change={(percent) => set({ percent })} />
        )}
        <Input
          label={form.about === "Pools" ? "Only the pool" : "Only the quota"}
          hint="Left empty, all of the project."
          value={form.resourceName}
          change={(resourceName) => set({ resourceName })}
        />
        {form.about === "Pools" && <Input label="Only pools of the class" value={form.className} change={(className) => set({ className })} />}
        {form.about === "Pools" && (
          <Input label="Only pools with labels" hint="env=prod" value={form.labelSelector} change={(labelSelector) => set({ labelSelector })} />
        )}
        {error !== undefined && <Trouble error={error} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={form.name === ""}>Save</button>
          <button type="button" onClick={close}>Cancel</button>
          {rule && <button type="button" class="danger" onClick={() => void remove()}>Delete the rule</button>}
        </div>
      </form>
    </Dialog>
  );
}
