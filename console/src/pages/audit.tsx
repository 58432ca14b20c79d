// The audit trail: all changes day by day, with user, before and after.
import { useMemo, useState } from "preact/hooks";
import { api, ask, pagesOf, type Schemas } from "../api";
import { formatClock, formatDay, plural } from "../format";
import { useKept } from "../kept";
import { useCalm, useLoad } from "../load";
import { goQuery, Link, query, to } from "../router";
import { Badge, Empty, Heading, Input, Select, When } from "../ui/parts";
import { Shown } from "../ui/trouble";
import { operationWords } from "../words";
import { line, save } from "./transfer-csv";

type Event = Schemas["AuditEvent"];
type Kind = Schemas["AuditKind"];
const kinds: Kind[] = [
  "IPPool",
  "IPClaim",
  "IPAllocation",
  "IPClass",
  "PoolGrant",
  "SpaceGrant",
  "Quota",
  "Member",
  "ApiKey",
  "Space",
  "Project",
  "IPConsumer",
  "Webhook",
];

export function AuditPage({ project }: { project: string }) {
  const date = query.value.get("day") ?? "";
  const by = query.value.get("by") ?? "";
  const kind = query.value.get("kind") ?? "";
  const name = query.value.get("name") ?? "";
  const did = query.value.get("did") ?? "";
  const shown = useKept("shown", () => 200);
  const atMost = shown.value;
  const wanted = useCalm({ date, by, kind, name, did }, 300);
  const events = useLoad(`audit:${project}:${JSON.stringify(wanted)}:${atMost}`, () => pagesOf<Event>(
    (cursor) => ask(api.GET("/v1/projects/{project}/audit-events", {
      params: { path: { project }, query: { limit: 200, ...span(wanted.date), ...named(wanted), ...(cursor ? { cursor } : {}) } },
    })), atMost,
  ), date ? [] : ["IPPool", "IPClaim", "IPClass", "Quota"]);
  return (
    <>
      <Heading title="Audit trail" note="Every change, the newest first, and attempts that the server refused. No one can change or delete an event." />
      <div class="filters">
        <div class="quick" role="group" aria-label="Day">
          {([["", "All"], [dayBack(0), "Today"], [dayBack(1), "Yesterday"]] as const).map(([value, text]) => (
            <button key={text} type="button" aria-pressed={date === value} onClick={() => goQuery({ day: value })}>{text}</button>
          ))}
        </div>
        <Input label="Day" type="date" value={date} change={(v) => goQuery({ day: v })} />
        <Input label="User or key" placeholder="key:team-a/ci" value={by} change={(v) => goQuery({ by: v })} />
        <Select
          label="Kind"
          value={kind}
          change={(v) => goQuery({ kind: v })}
          options={[["", "Any"], ...kinds.map((k): [string, string] => [k, k.replace(/^IP/, "").replace(/(?<=[a-z])(?=[A-Z])/, " ")])]}
        />
        <Input label="Name" value={name} change={(v) => goQuery({ name: v })} />
        <Select label="Operation" value={did} change={(v) => goQuery({ did: v })}
          options={[["", "Anything"], ...Object.entries(operationWords).map(([id, words]): [string, string] => [id, id === "putClaim" ? "claimed, or repeated a claim" : words])]} />
      </div>
      <Shown of={events} rows={10}>
        {({ items, cursor }) => items.length === 0 ? <Empty>No matching change {date ? "on this day" : "yet"}.</Empty> : (
          <>
            <People events={items} complete={cursor === undefined} />
            <Days events={items} project={project} />
            <button type="button" class="quiet" onClick={() => saveTrail(project, items)}>Export these {plural(items.length, "change")} as CSV</button>{" "}
            {cursor && <button type="button" onClick={() => shown.set(atMost + 400)}>Show older ones</button>}
          </>
        )}
      </Shown>
    </>
  );
}

/** Saves the events as a CSV file, one event a line. */
function saveTrail(project: string, events: Event[]) {
  const head = ["at", "subject", "operation", "outcome", "kind", "name", "remoteAddress", "requestId", "changes"];
  const lines = events.map((event) => line([
    event.at, event.subject, event.operation, event.outcome, event.resource.kind, event.resource.name ?? "", event.remoteAddress ?? "", event.requestId ?? "",
    diff(event.before, event.after).map(([field, before, after]) => `${field}: ${before ?? "–"} → ${after ?? "–"}`).join("; "),
  ]));
  save(`${project}-audit.csv`, [line(head), ...lines]);
}

function dayBack(days: number): string {
  const at = new Date();
  at.setDate(at.getDate() - days);
  return `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, "0")}-${String(at.getDate()).padStart(2, "0")}`;
}

/** Returns the bounds of a day in the user's time zone. */
function span(date: string): { since?: string; until?: string } {
  const from = date ? new Date(`${date}T00:00:00`) : undefined;
  if (!from || Number.isNaN(from.getTime())) return {};
  const until = new Date(from);
  until.setDate(until.getDate() + 1);
  return { since: from.toISOString(), until: until.toISOString() };
}

function named({ by, kind, name, did }: { by: string; kind: string; name: string; did: string }) {
  return { ...(did ? { operation: did as Schemas["AuditOperation"] } : {}), ...(by ? { subject: by } : {}), ...(kind ? { resourceKind: kind as Kind } : {}), ...(name ? { resourceName: name } : {}) };
}

/** Shows how many of the changes each user made; one click shows only the changes of that user. */
function People({ events, complete }: { events: Event[]; complete: boolean }) {
  const counts = new Map<string, number>();
  for (const event of events) counts.set(event.subject, (counts.get(event.subject) ?? 0) + 1);
  const people = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 8);
  return (
    <p class="people">
      {plural(events.length, "change")}
      {complete ? "" : " shown"} by{" "}
      {people.map(([who, count]) => (
        <button key={who} type="button" class="quiet" onClick={() => goQuery({ by: who })}>
          {who} <span class="number">{count}</span>
        </button>
      ))}
    </p>
  );
}

function Days({ events, project }: { events: Event[]; project: string }) {
  const days = useMemo(() => {
    const found = new Map<string, Event[]>();
    for (const event of events) {
      const key = formatDay(new Date(event.at));
      found.set(key, [...(found.get(key) ?? []), event]);
    }
    return [...found];
  }, [events]);
  return (
    <>
      {days.map(([name, list]) => (
        <section key={name} aria-label={name}>
          <h2 class="day">{name}</h2>
          <ul class="plain events">{together(list).map((events) => <Events key={events[0]!.id} events={events} project={project} />)}</ul>
        </section>
      ))}
    </>
  );
}

/** Groups the changes of one request, such as a batch of claims, into one line. */
export function together(events: Event[]): Event[][] {
  const groups: Event[][] = [];
  for (const event of events) {
    const last = groups.at(-1)?.[0];
    if (last && event.requestId && last.requestId === event.requestId && last.operation === event.operation) groups.at(-1)!.push(event);
    else groups.push([event]);
  }
  return groups;
}

const more = (events: Event[]) => (events.length > 1 ? ` and ${(events.length - 1).toLocaleString("en")} more` : "");

function Events({ events, project }: { events: Event[]; project: string }) {
  const [open, setOpen] = useState(false);
  const first = events[0]!;
  if (events.length === 1) return <EventDetail event={first} project={project} />;
  return (
    <li>
      <details onToggle={(e) => { if (e.target === e.currentTarget) setOpen(e.currentTarget.open); }}>
        <summary class="line">
          <time class="mono note" dateTime={first.at}>{formatClock(first.at)}</time>
          <span><span class="subject">{first.subject}</span> <What event={first} project={project} links={false} />{more(events)}</span>
        </summary>
        {open && <ul class="plain inner">{events.map((event) => <EventDetail key={event.id} event={event} project={project} />)}</ul>}
      </details>
    </li>
  );
}

/** Reports whether one of these events later deleted the resource of this event. */
export function goneIn(events: Event[], { at, resource }: Event): boolean {
  const deletes = (event: Event) => event.outcome === "ok" && (event.operation.startsWith("delete") || event.operation === "releaseClaims" || (!!event.before && !event.after));
  return events.some((event) => event.at >= at && event.resource.kind === resource.kind && event.resource.name === resource.name && deletes(event));
}

function What({ event, project, links }: { event: Event; project: string; links: boolean }) {
  const { kind, name } = event.resource;
  const gone = event.operation.startsWith("delete");
  const page = kind === "IPPool" ? to.pool(project, name ?? "") : kind === "IPClaim" ? to.claim(project, name ?? "") : undefined;
  return (
    <>
      {operationWords[event.operation] ?? (event.operation || (kind === "Alert" ? alertWords(event) : "changed"))}{" "}
      {links && name && page && !gone ? <Link to={page}>{name}</Link> : <strong>{name ?? kind}</strong>}
    </>
  );
}

/** Describes a change that the server itself made to an alert. */
const alertWords = ({ before, after }: Event) => (!before ? "raised alert" : !after ? "ended alert" : "changed alert");

export function EventLine({ events, project, gone }: { events: Event[]; project: string; gone: boolean }) {
  const event = events[0]!;
  return (
    <li class="line event">
      <span><span class="subject">{event.subject}</span> <What event={event} project={project} links={!gone} />{more(events)}</span>
      {event.outcome !== "ok" && <Badge kind="bad">{event.outcome}</Badge>}
      <span class="note"><When at={event.at} /></span>
    </li>
  );
}

function EventDetail({ event, project }: { event: Event; project: string }) {
  const changes = diff(event.before, event.after);
  const summary = (
    <>
      <time class="mono note" dateTime={event.at}>{formatClock(event.at)}</time>
      <span><span class="subject">{event.subject}</span> <What event={event} project={project} links={false} /></span>
      {event.outcome !== "ok" && <Badge kind="bad">{event.outcome}</Badge>}
    </>
  );
  return (
    <li>
      <details>
        <summary class="line">{summary}</summary>
        <p><What event={event} project={project} links /></p>
        <Diff changes={changes} />
        <p class="note small">
          {event.operation} · {event.method}
          {event.remoteAddress && ` from ${event.remoteAddress}`}
          {event.requestId && ` · request ${event.requestId}`}
        </p>
      </details>
    </li>
  );
}

function Diff({ changes }: { changes: [string, string | undefined, string | undefined][] }) {
  if (changes.length === 0) return <p class="note">The trail has no fields for this change.</p>;
  return (
    <table class="diff">
      <thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
      <tbody>
        {changes.map(([field, before, after]) => (
          <tr key={field}>
            <th scope="row" class="mono">
              {field}
            </th>
            <td class="mono before">{before ?? "–"}</td>
            <td class="mono after">{after ?? "–"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Returns the differences field by field. */
export function diff(before: unknown, after: unknown): [string, string | undefined, string | undefined][] {
  const old = flatten(before);
  const now = flatten(after);
  return [...new Set([...old.keys(), ...now.keys()])].sort().filter((k) => old.get(k) !== now.get(k)).map((k) => [k, old.get(k), now.get(k)]);
}

function flatten(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (value !== null && typeof value === "object" && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value)) flatten(inner, path ? `${path}.${key}` : key, into);
  } else if (value !== null && value !== undefined) {
    into.set(path, typeof value === "string" ? value : JSON.stringify(value));
  }
  return into;
}
