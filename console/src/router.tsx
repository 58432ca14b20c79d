// Routes below /console/: each page has its own URL.
import { computed, signal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export const base = "/console";
const here = signal(location.pathname + location.search);

export const path = computed(() => here.value.split("?")[0]!.slice(base.length) || "/");
export const query = computed(() => new URLSearchParams(here.value.split("?")[1] ?? ""));

addEventListener("popstate", () => { here.value = location.pathname + location.search; });

/** Opens a page of the console; `replace` adds no step to the history. */
export function go(to: string, replace = false) {
  if (base + to === here.value) return;
  history[replace ? "replaceState" : "pushState"](null, "", base + to);
  const moved = to.split("?")[0] !== path.value;
  here.value = base + to;
  if (moved) scrollTo(0, 0);
}

/** Changes query parameters of the current page; an empty value removes one. */
export function goQuery(changes: Record<string, string | undefined>, replace = true) {
  const next = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  go(path.value + (text ? "?" + text : ""), replace);
}

type LinkProps = { to: string; class?: string; tabIndex?: number; "aria-current"?: "page" | undefined; children: ComponentChildren };

export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (e: MouseEvent) => {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    go(to);
  };
  return <a {...rest} href={base + to} onClick={follow}>{children}</a>;
}

/** Returns the decoded parts of a path that match a pattern such as /projects/:project/pools. */
export function match(pattern: string, at: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const parts = at.replace(/\/$/, "").split("/");
  if (wanted.length !== parts.length) return undefined;
  const found: Record<string, string> = {};
  for (const [i, want] of wanted.entries()) {
    const part = parts[i]!;
    if (want.startsWith(":")) found[want.slice(1)] = decode(part);
    else if (want !== part) return undefined;
  }
  return found;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const e = encodeURIComponent;
/** The paths of pages. */
export const to = {
  home: () => "/",
  projects: () => "/projects",
  project: (project: string) => `/projects/${e(project)}`,
  page: (project: string, page: string) => `/projects/${e(project)}/${page}`,
  pool: (project: string, pool: string, parameters = "") => `/projects/${e(project)}/pools/${e(pool)}${parameters}`,
  claim: (project: string, claim: string) => `/projects/${e(project)}/claims/${e(claim)}`,
  newClaim: (project: string, pool?: string) => `/projects/${e(project)}/new-claim${pool ? `?pool=${e(pool)}` : ""}`,
  newPool: (project: string, parent?: string) => `/projects/${e(project)}/new-pool${parent ? `?parent=${e(parent)}` : ""}`,
  address: (project: string, address: string) => `/projects/${e(project)}/addresses/${e(address)}`,
  search: (text: string) => `/search?q=${e(text)}`,
};
