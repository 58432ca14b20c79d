// Alerts about pools and quotas that are nearly full, and the rules that raise them.
import { useState } from "preact/hooks";
import { api, ask, asSeen, goneNow, holds, pagesOf, ensure, type Schemas } from "../api";
import { errorAt, nameError } from "../fields";
import { formatDuration, formatTime, hoursOf } from "../format";
import { useIntents, useKept, type Intents } from "../kept";
import { useLoad } from "../load";
import { division, getPool, ignoreGone } from "../pools";
import { Link, to } from "../router";
import { may } from "../session";
import { Badge, Bar, Card, Dialog, Empty, Heading, Input, Restored, Select, Table, When } from "../ui/parts";
import { Shown, Trouble } from "../ui/trouble";

type Rule = Schemas["AlertRule"];
type Alert = Schemas["Alert"];

const page = 500;

/** Loads the current alerts. With a cursor in the result, these are only the first ones. */
export const useAlerts = (project: string, enough = page) => useLoad(`alerts:${project}:${enough}`, () => pagesOf<Alert>(
  (cursor) => ask(api.GET("/v1/projects/{project}/alerts", { params: { path: { project }, query: { limit: page, ...(cursor ? { cursor } : {}) } } })), enough,
), ["Alert"], 5000);

export function AlertsPage({ project }: { project: string }) {
  const { value: enough, set: setEnough } = useKept("loaded", () => page);
  const alerts = useAlerts(project, enough);
  const { value: shown, set: setShown } = useKept("shown", () => alertsAtOnce);
  const rules = useLoad(`alert-rules:${project}`, () => pagesOf<Rule>(
    (cursor) => ask(api.GET("/v1/projects/{project}/alert-rules", { params: { path: { project }, query: { limit: 500, ...(cursor ? { cursor } : {}) } } })), 2000,
  ), ["Alert"]);
  const [editing, setEditing] = useState<Rule | "new" | undefined>();
  const done = () => { setEditing(undefined); rules.reload(); alerts.reload(); };
  return (
    <>
      <Heading title="Alerts" note="Pools and quotas that have reached the threshold of a rule. Webhooks can send these alerts.">
        {may("provider", project) && <button type="button" class="primary" onClick={() => setEditing("new")}>New rule</button>}
      </Heading>
      <div class="stack">
        <Card title="Now"><Shown of={alerts}>
          {({ items, cursor }) => (
            <>
              <Alerts alerts={items.slice(0, shown)} project={project} />
              {(items.length > shown || cursor) && (
                <p>
                  <span class="note">{Math.min(shown, items.length).toLocaleString("en")} of {cursor ? "more than " : ""}{items.length.toLocaleString("en")}.</span>{" "}
                  <button type="button" disabled={alerts.loading}
                    onClick={() => { setShown(shown + alertsAtOnce); if (shown + alertsAtOnce > items.length) setEnough(enough + page); }}>Show more</button>
                </p>
              )}
            </>
          )}
        </Shown></Card>
        <Card title="Rules"><Shown of={rules}>
          {({ items, cursor }) => <><Rules rules={items} project={project} edit={setEditing} />{cursor && <p class="note">The first {items.length.toLocaleString("en")} rules.</p>}</>}
        </Shown></Card>
      </div>
      {editing && <Edit project={project} rule={editing === "new" ? undefined : editing} close={() => setEditing(undefined)} done={done} />}
    </>
  );
}

const alertsAtOnce = 50;

export function Alerts({ alerts, project }: { alerts: Alert[]; project: string }) {
  if (alerts.length === 0) return <Empty>There are no alerts.</Empty>;
  return <ul class="plain">{alerts.map((alert) => <Line key={alert.name} alert={alert} project={project} />)}</ul>;
}

/** Shows one alert. For a pool that is divided among child pools it shows how much was carved, not that the pool is full. */
function Line({ alert, project }: { alert: Alert; project: string }) {
  const { kind, name } = alert.subject;
  const isPool = kind === "IPPool";
  const found = useLoad(isPool ? `alert-pool:${project}:${name}` : undefined, async () => {
    const pool = await getPool(project, name).catch(ignoreGone);
    return pool && await division(project, pool);
  }, ["IPPool"], 5000);
  const divided = found.data === "divided";
  return (
    <li class="line">
      <Badge kind={divided ? "" : "bad"}>{isPool ? "Pool" : "Quota"}</Badge>
      <Link class="strong" to={isPool ? to.pool(project, name, divided ? "?tab=children" : "?tab=why") : to.page(project, "quotas")}>{name}</Link>
      <span class="note">
        {alert.ruleName}: {divided && "divided among child pools; "}{alert.runsOutAt ? `full on ${formatTime(alert.runsOutAt)}` : from(alert)}, since <When at={alert.since} />
      </span>
      {alert.percentNow !== undefined && <Bar percent={alert.percentNow} label={name} divided={divided} />}
    </li>
  );
}

function Rules({ rules, project, edit }: { rules: Rule[]; project: string; edit: (rule: Rule) => void }) {
  if (rules.length === 0) return <Empty>There are no rules, so there are no alerts.</Empty>;
  return (
    <Table label="Alert rules" head={["Rule", "About", "When", "Alerts", "Checked", "Change"]}>
      {rules.map((rule) => (
        <tr key={rule.metadata.uid}>
          <th scope="row">{rule.metadata.name}</th>
          <td>{about(rule.spec)}</td>
          <td>{from(rule.spec)}</td>
          <td class="number">{rule.status.alerts}</td>
          <td>{rule.status.checkedAt ? <When at={rule.status.checkedAt} /> : "not yet"}</td>
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

/** Describes the threshold of a rule. */
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

const read = (project: string, alertRule: string) => ask(api.GET("/v1/projects/{project}/alert-rules/{alertRule}", { params: { path: { project, alertRule } } }));

/** Creates or changes the rule. An empty field removes the value. */
function save(project: string, rule: Rule | undefined, { name, about: what, by, percent, days, resourceName, className, labelSelector }: Form, key: Intents["keyFor"]) {
  const level = what === "Pools" && by === "runway" ? { runway: `${Math.round(24 * Number(days))}h` } : { percent: Number(percent) };
  const narrow = what === "Pools" ? { resourceName, className, labelSelector } : { resourceName };
  if (rule) {
    const spec = { percent: null, runway: null, ...level, ...Object.fromEntries(Object.entries(narrow).map(([k, v]) => [k, v || null])) };
    return ensure(ask(api.PATCH("/v1/projects/{project}/alert-rules/{alertRule}", {
      params: { path: { project, alertRule: rule.metadata.name }, header: asSeen(rule) }, body: { spec },
    })), async () => holds((await read(project, rule.metadata.name)).spec, spec));
  }
  const spec = { about: what, ...level, ...Object.fromEntries(Object.entries(narrow).filter(([, v]) => v)) };
  return ask(api.POST("/v1/projects/{project}/alert-rules", { params: { path: { project }, header: key({ name, spec }) }, body: { metadata: { name }, spec } }));
}

/** Returns why the threshold is not valid. */
function wrongIn({ about: what, by, percent, days }: Form): string | undefined {
  if (what === "Pools" && by === "runway") return Number(days) > 0 ? undefined : "Enter a number of days.";
  return /^\d{1,3}$/.test(percent) && Number(percent) >= 1 && Number(percent) <= 100 ? undefined : "Enter a whole number from 1 to 100.";
}

function Edit({ project, rule, close, done }: { project: string; rule: Rule | undefined; close: () => void; done: () => void }) {
  const kept = useKept(`rule ${rule?.metadata.revision ?? "new"}`, () => formOf(rule));
  const form = kept.value;
  const [error, setError] = useState<unknown>();
  const intents = useIntents("rule");
  const set = (part: Partial<Form>) => { setError(undefined); kept.set({ ...form, ...part }); };
  const wrong = wrongIn(form);
  const submit = (e: Event) => {
    e.preventDefault();
    setError(undefined);
    save(project, rule, form, intents.keyFor).then(() => { intents.done(); kept.clear(); done(); }, setError);
  };
  const remove = () => ensure(ask(api.DELETE("/v1/projects/{project}/alert-rules/{alertRule}", {
    params: { path: { project, alertRule: form.name }, header: asSeen(rule!) },
  })), () => goneNow(read(project, form.name))).then(done, setError);
  return (
    <Dialog title={rule ? `Change ${form.name}` : "New rule"} close={close}>
      <form onSubmit={submit}>
        <Restored form={kept} />
        {!rule && <Input label="Name" required value={form.name} change={(name) => set({ name })} error={nameError(form.name) ?? errorAt(error, "Name")} />}
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
            options={[["percent", "A percentage is used"], ["runway", "It will be full soon"]]} />
        )}
        {form.about === "Pools" && form.by === "runway" ? (
          <Input label="Within how many days" inputMode="numeric" required value={form.days} change={(days) => set({ days })}
            hint="At the recent growth rate." error={wrong ?? errorAt(error, "Time")} />
        ) : (
          <Input label="Percent used, at least" inputMode="numeric" required value={form.percent} change={(percent) => set({ percent: percent.trim() })}
            error={wrong ?? errorAt(error, "Percent")} />
        )}
        <Input
          label={form.about === "Pools" ? "Only the pool" : "Only the quota"}
          hint="If empty, all in the project."
          value={form.resourceName}
          change={(resourceName) => set({ resourceName })}
        />
        {form.about === "Pools" && <Input label="Only pools of the class" value={form.className} change={(className) => set({ className })} />}
        {form.about === "Pools" && (
          <Input label="Only pools with labels" hint="env=prod" value={form.labelSelector} change={(labelSelector) => set({ labelSelector })} />
        )}
        {error !== undefined && <Trouble error={error} fields={["Name", "Time", "Percent"]} />}
        <div class="actions">
          <button type="submit" class="primary" disabled={form.name === "" || nameError(form.name) !== undefined || wrong !== undefined}>Save</button>
          <button type="button" onClick={() => { kept.clear(); close(); }}>Cancel</button>
          {rule && <button type="button" class="danger" onClick={() => void remove()}>Delete the rule</button>}
        </div>
      </form>
    </Dialog>
  );
}
