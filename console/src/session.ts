// Who is signed in, and what that caller may do. The credential itself stays in a cookie that no script can read.
import { computed, signal } from "@preact/signals";
import { api, ask, askPath, Refused, send, signedOut, type Schemas } from "./api";
import { forgetKept } from "./kept";
import { forget } from "./load";

export interface Session {
  signedIn: boolean;
  subject?: string;
  expiresAt?: string;
  methods: string[];
  issuers?: { name: string }[];
}

/** Where the browser keeps the project of the last visit, until somebody signs out. */
export const lastProject = "carve.project";

export const session = signal<Session | undefined>(undefined);
export const whoami = signal<Schemas["Whoami"] | undefined>(undefined);

const ranks = ["viewer", "consumer", "provider", "admin"] as const;
export type Role = (typeof ranks)[number];

const roles = computed(() => new Map(whoami.value?.roles.map((r) => [r.project, r.role])));

/** Whether the caller has this role in the project, or a larger one. */
export function may(role: Role, project: string): boolean {
  if (whoami.value?.platformAdmin) return true;
  const has = roles.value.get(project);
  return has !== undefined && ranks.indexOf(has) >= ranks.indexOf(role);
}

/** The console is asking who is signed in: until it knows, it shows neither a page nor the form to sign in. */
export const beginning = signal(true);

/** Asks who is signed in. A server without sessions is asked directly: it may admit everybody. */
export async function begin() {
  beginning.value = true;
  try {
    await identify();
  } finally {
    beginning.value = false;
  }
}

async function identify() {
  try {
    session.value = await askPath<Session>("/console/session");
  } catch (cause) {
    if (!(cause instanceof Refused)) throw cause;
    session.value = { signedIn: true, methods: ["dev"] };
  }
  const known = session.value;
  if (!known.signedIn && !known.methods.includes("dev")) return;
  try {
    whoami.value = await ask(api.GET("/v1/whoami"));
    signedOut.value = false;
  } catch (cause) {
    if (!(cause instanceof Refused && cause.problem.status === 401)) throw cause;
  }
}

/** What other tabs of this browser are told. They have the same cookie: who signs out here is out there. */
const tabs = new BroadcastChannel("carve.session");
tabs.onmessage = () => {
  drop();
  void begin();
};

function drop() {
  whoami.value = undefined;
  forget();
  session.value = undefined;
  signedOut.value = true;
}

export async function signIn(key: string) {
  await askPath<Session>("/console/session", {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ key }),
  });
  forget();
  tabs.postMessage("in");
  await begin();
}

export async function signOut() {
  await send(location.origin + "/console/session", { method: "DELETE" });
  localStorage.removeItem(lastProject);
  forgetKept();
  drop();
  tabs.postMessage("out");
  await begin();
}
