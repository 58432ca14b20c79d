// The signed-in user and the user's roles. The credential stays in a cookie that no script can read.
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

/** The key in the browser's storage for the project of the last visit, until the user signs out. */
export const lastProject = "carve.project";

export const session = signal<Session | undefined>(undefined);
export const whoami = signal<Schemas["Whoami"] | undefined>(undefined);

const ranks = ["viewer", "consumer", "provider", "admin"] as const;
export type Role = (typeof ranks)[number];

const roles = computed(() => new Map(whoami.value?.roles.map((r) => [r.project, r.role])));

/** Reports whether the user has this role or a higher one in the project. */
export function may(role: Role, project: string): boolean {
  if (whoami.value?.platformAdmin) return true;
  const has = roles.value.get(project);
  return has !== undefined && ranks.indexOf(has) >= ranks.indexOf(role);
}

/** True while the console asks the server for the user. Meanwhile it shows neither a page nor the sign-in form. */
export const beginning = signal(true);

/** Asks the server for the user. A server without sessions gets the request directly: it may admit everybody. */
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

/** Notifies the browser's other tabs. They share the cookie, so a sign-out applies to all of them. */
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
