// Shown for an object that does not exist, with the user who deleted it, if the audit trail has that.
import { api, ask, type Schemas } from "../api";
import { formatTime } from "../format";
import { useLoad } from "../load";
import { Link, to } from "../router";
import { may } from "../session";
import { When } from "./parts";

const deleting = ["deletePool", "deleteClaim", "releaseClaims", "deleteSpace", "deleteClass", "detachConsumer", "endConsumer"];
const nouns = { IPClaim: "claim", IPPool: "pool" } as const;

export function Gone({ project, kind, name }: { project: string; kind: keyof typeof nouns; name: string }) {
  const admin = may("admin", project);
  const events = useLoad(admin ? `gone:${project}:${kind}:${name}` : undefined, () => ask(api.GET("/v1/projects/{project}/audit-events", {
    params: { path: { project }, query: { resourceKind: kind, resourceName: name, limit: 20 } },
  })), [kind]);
  const last = events.data?.items.find((event) => event.outcome === "ok" && (deleting.includes(event.operation) || (event.before && !event.after)));
  const trail = `${to.page(project, "audit")}?kind=${kind}&name=${encodeURIComponent(name)}`;
  return (
    <div class="outcome bad" role="alert">
      <p class="strong">There is no {nouns[kind]} {name} in project {project}.</p>
      {last ? <Deletion event={last} /> : <p>It may have been {kind === "IPClaim" ? "released" : "deleted"}, or you may have no role in its project. Check the name.</p>}
      {admin && <p><Link to={trail}>Audit trail for {name}</Link></p>}
    </div>
  );
}

function Deletion({ event }: { event: Schemas["AuditEvent"] }) {
  return <p><strong>{event.subject}</strong> {event.resource.kind === "IPClaim" ? "released" : "deleted"} it on {formatTime(event.at)} (<When at={event.at} />).</p>;
}
