// The frame of every page: navigation, project, search, theme, and the state of the connection.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { api, ask, network, pagesOf, type Schemas } from "./api";
import { live } from "./live";
import { useLoad } from "./load";
import { go, Link, path, to } from "./router";
import { may, session, signOut, whoami } from "./session";
import { SearchBox } from "./pages/search";
import { theme, type Theme } from "./theme";

const sections: [string, string, "viewer" | "consumer" | "admin"][] = [
  ["", "Overview", "viewer"],
  ["pools", "Pools", "viewer"],
  ["claims", "Claims", "viewer"],
  ["unused", "Unused", "viewer"],
  ["alerts", "Alerts", "viewer"],
  ["quotas", "Quotas", "viewer"],
  ["grants", "Grants", "viewer"],
  ["audit", "Audit trail", "admin"],
  ["import", "Import", "consumer"],
  ["export", "Export", "viewer"],
];

export function Shell({ project, children }: { project: string | undefined; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const place = path.value;
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  useEffect(() => {
    setOpen(false);
    // Screen readers and keyboards start at the heading of the new page.
    if (!first.current) main.current?.querySelector<HTMLElement>("h1")?.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); main.current?.focus(); }}>Skip to content</a>
      <header class="top">
        <button type="button" class="quiet menu" aria-expanded={open} aria-controls="nav" onClick={() => setOpen(!open)}>Menu</button>
        <Link class="brand" to={to.projects()}><Mark />Carve</Link>
        <SearchBox project={project} />
        <Connection />
        <ThemeSwitch />
        <Account />
      </header>
      <nav id="nav" class={`side ${open ? "open" : ""}`} aria-label="Console">
        {project !== undefined && <Switcher project={project} />}
        {project !== undefined && <Sections project={project} place={place} />}
        <ul class="foot">
          <li><Link to={to.projects()} aria-current={place === "/projects" ? "page" : undefined}>All projects</Link></li>
          <li><a href="/docs/">API reference</a></li>
        </ul>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <NetworkNote />
        {children}
      </main>
    </div>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
      <rect x="1" y="1" width="8" height="18" rx="1.500" fill="currentColor" />
      <rect x="11" y="1" width="8" height="8" rx="1.500" fill="currentColor" opacity=".55" />
      <rect x="11" y="11" width="8" height="8" rx="1.500" fill="currentColor" opacity=".3" />
    </svg>
  );
}

function Sections({ project, place }: { project: string; place: string }) {
  return (
    <ul>
      {sections.filter(([, , role]) => may(role, project)).map(([page, name]) => {
        const href = page === "" ? to.project(project) : to.page(project, page);
        const here = page === "" ? place === href : place === href || place.startsWith(href + "/");
        return <li key={page}><Link to={href} aria-current={here ? "page" : undefined}>{name}</Link></li>;
      })}
    </ul>
  );
}

/** Loads the projects of the user, up to the size of one list. */
export const loadProjects = () => pagesOf<Schemas["Project"]>(
  (cursor) => ask(api.GET("/v1/projects", { params: { query: { limit: 500, ...(cursor ? { cursor } : {}) } } })), 1000,
);

function Switcher({ project }: { project: string }) {
  const projects = useLoad("projects", loadProjects);
  const names = projects.data?.items.map((p) => p.metadata.name) ?? [];
  const all = names.includes(project) ? names : [project, ...names];
  return (
    <label class="switcher">
      <span>Project</span>
      <select value={project} onChange={(e) => go(to.project(e.currentTarget.value))}>
        {all.map((name) => <option key={name} value={name} selected={name === project}>{name}</option>)}
        {projects.data?.cursor && <option disabled>Only the first {names.length.toLocaleString("en")} are listed</option>}
      </select>
    </label>
  );
}

function Connection() {
  const state = network.value === "lost" ? "lost" : live.value ? "live" : "";
  const words = state === "lost" ? "No connection" : state === "live" ? "Live" : "";
  return <span class={`connection ${state}`} title={state === "live" ? "The page shows changes immediately" : undefined}>{words}</span>;
}

function NetworkNote() {
  return (
    <div role="status" class="network">
      {network.value === "lost" && <p class="strip lost">The server cannot be reached. This page may be out of date; the console keeps trying.</p>}
      {network.value === "slow" && <p class="strip">The server takes longer than usual to respond.</p>}
    </div>
  );
}

const themes: [Theme, string][] = [["system", "System colours"], ["light", "Light"], ["dark", "Dark"]];

function ThemeSwitch() {
  return (
    <select class="theme" aria-label="Colours" value={theme.value} onChange={(e) => { theme.value = e.currentTarget.value as Theme; }}>
      {themes.map(([name, text]) => <option key={name} value={name} selected={theme.value === name}>{text}</option>)}
    </select>
  );
}

function Account() {
  const who = whoami.value;
  if (!who) return null;
  return (
    <span class="account">
      <span class="subject" title={who.subject}>{who.subject}</span>
      {session.value?.signedIn && who.method !== "dev" && <button type="button" class="quiet" onClick={() => void signOut()}>Sign out</button>}
    </span>
  );
}
