// Chooses the page for a URL, and its frame.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { api, ask, isGone, signedOut } from "./api";
import { follow, live } from "./live";
import { useLoad } from "./load";
import { AddressPage } from "./pages/address";
import { AlertsPage } from "./pages/alerts";
import { AuditPage } from "./pages/audit";
import { ClaimPage } from "./pages/claim";
import { ClaimForm } from "./pages/claim-form";
import { ClaimsPage } from "./pages/claims";
import { GrantsPage } from "./pages/grants";
import { HandOver } from "./pages/hand-over";
import { Overview } from "./pages/overview";
import { PoolPage } from "./pages/pool";
import { PoolForm } from "./pages/pool-form";
import { PoolsPage } from "./pages/pools";
import { ProjectsPage } from "./pages/projects";
import { QuotasPage } from "./pages/quotas";
import { SearchPage } from "./pages/search";
import { SignIn } from "./pages/sign-in";
import { SplitPage } from "./pages/split";
import { ExportPage } from "./pages/transfer-export";
import { ImportPage } from "./pages/transfer-import";
import { UnusedPage } from "./pages/unused";
import { go, Link, match, path, to } from "./router";
import { begin, beginning, lastProject, session, whoami } from "./session";
import { Shell } from "./shell";
import { Heading, Waiting } from "./ui/parts";
import { Trouble } from "./ui/trouble";

type Page = (at: Record<string, string>) => ComponentChildren;
const within = (page: string) => `/projects/:project${page}`;

const pages: [string, string, Page][] = [
  ["/projects", "Projects", () => <ProjectsPage />],
  ["/search", "Search", () => <SearchPage />],
  [within(""), "Overview", (at) => <Overview project={at.project!} />],
  [within("/pools"), "Pools", (at) => <PoolsPage project={at.project!} />],
  [within("/pools/:pool"), "Pool", (at) => <PoolPage project={at.project!} name={at.pool!} />],
  [within("/pools/:pool/split"), "Split", (at) => <SplitPage project={at.project!} name={at.pool!} />],
  [within("/pools/:pool/hand-over"), "Hand over", (at) => <HandOver project={at.project!} name={at.pool!} />],
  [within("/new-pool"), "New pool", (at) => <PoolForm project={at.project!} />],
  [within("/claims"), "Claims", (at) => <ClaimsPage project={at.project!} />],
  [within("/claims/:claim"), "Claim", (at) => <ClaimPage project={at.project!} name={at.claim!} />],
  [within("/new-claim"), "New claim", (at) => <ClaimForm project={at.project!} />],
  [within("/unused"), "Unused", (at) => <UnusedPage project={at.project!} />],
  [within("/addresses/:address"), "Address", (at) => <AddressPage project={at.project!} address={at.address!} />],
  [within("/alerts"), "Alerts", (at) => <AlertsPage project={at.project!} />],
  [within("/audit"), "Audit trail", (at) => <AuditPage project={at.project!} />],
  [within("/quotas"), "Quotas", (at) => <QuotasPage project={at.project!} />],
  [within("/import"), "Import", (at) => <ImportPage project={at.project!} />],
  [within("/export"), "Export", (at) => <ExportPage project={at.project!} />],
  [within("/grants"), "Grants", (at) => <GrantsPage project={at.project!} />],
];

interface Found { title: string; at: Record<string, string>; show: Page; pattern: string }

function find(place: string): Found | undefined {
  for (const [pattern, title, show] of pages) {
    const at = match(pattern, place);
    if (at) return { title, at, show, pattern };
  }
  return undefined;
}

export function App() {
  const [error, setError] = useState<unknown>();
  const start = () => { setError(undefined); begin().catch(setError); };
  useEffect(start, []);
  if (error !== undefined) return <main class="alone"><h1>Carve</h1><Trouble error={error} retry={start} /></main>;
  if (session.value === undefined || (whoami.value === undefined && beginning.value)) return <main class="alone"><h1>Carve</h1><Waiting /></main>;
  if (whoami.value === undefined || signedOut.value) return <SignIn />;
  return <SignedIn />;
}

/** Returns the start page of a user who opens /: the project of the last visit, or the only project, or the list. */
function homeOf(): string {
  const roles = whoami.value?.roles ?? [];
  const last = localStorage.getItem(lastProject);
  if (last) return to.project(last);
  return roles.length === 1 && !whoami.value?.platformAdmin ? to.project(roles[0]!.project) : to.projects();
}

function SignedIn() {
  const place = path.value;
  const found = find(place);
  const project = found?.at.project;
  useEffect(() => { if (place === "/") go(homeOf(), true); }, [place]);
  useEffect(() => {
    if (project === undefined) return undefined;
    localStorage.setItem(lastProject, project);
    const stop = new AbortController();
    void follow(project, stop.signal);
    return () => { stop.abort(); live.value = false; };
  }, [project]);
  useEffect(() => { document.title = title(found); }, [place]);
  const around = project ?? (place === "/search" ? localStorage.getItem(lastProject) ?? undefined : undefined);
  return (
    <Shell project={around}>
      {found ? <div key={place} class="page"><InProject project={project}>{found.show(found.at)}</InProject></div> : place !== "/" && <Nowhere />}
    </Shell>
  );
}

/** Shows a page of a project, or that the project does not exist, so that no page offers to change anything in it. */
function InProject({ project, children }: { project: string | undefined; children: ComponentChildren }) {
  const found = useLoad(project === undefined ? undefined : `project:${project}`, () => ask(api.GET("/v1/projects/{project}", { params: { path: { project: project! } } })));
  if (!isGone(found.error)) return <>{children}</>;
  return (
    <>
      <Heading title={`There is no project ${project}`} note="Check the name. A project in which you have no role looks as if it did not exist." />
      <Trouble error={found.error} />
      <p><Link to={to.projects()}>All projects</Link></p>
    </>
  );
}

function title(found: Found | undefined): string {
  const at = found?.at;
  const what = at?.pool ?? at?.claim ?? at?.address;
  return [what, found?.title, at?.project, "Carve"].filter((part) => part !== undefined).join(" · ");
}

function Nowhere() {
  return <Heading title="There is no such page" note="Check the address. The link may come from another version." />;
}
