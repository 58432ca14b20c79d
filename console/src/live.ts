// Follows the change feed of the project on the screen. Pages learn only that a kind has changed, and load again.
import { signal } from "@preact/signals";
import { api, ask, Refused, signedOut, type Schemas } from "./api";
import { changes } from "./load";

/** Whether the page shows changes as they come. */
export const live = signal(false);

const waitSeconds = 25;
const limit = 50; // changes in one response; after a full one, pages reload only every 5 s
const pause = (ms: number, stop: AbortSignal) => new Promise<void>((done) => {
  const timer = setTimeout(done, ms);
  stop.addEventListener("abort", () => { clearTimeout(timer); done(); });
});

async function step(project: string, after: string | undefined, stop: AbortSignal): Promise<string | undefined> {
  const skipped = live.value && after === undefined; // the changes during a pause are not in the feed's response
  const wait = live.value ? { waitSeconds: skipped ? 5 : waitSeconds } : {}; // the first request only checks that it can follow
  const query = { ...(after === undefined ? {} : { after }), ...wait, limit };
  const answer = (await ask(api.GET("/v1/projects/{project}/changes", {
    params: { path: { project }, query }, signal: stop, fetch: quiet,
  }))) as Schemas["ChangeList"];
  live.value = true;
  if (answer.items.length > 0) {
    const next = { ...changes.value };
    for (const item of answer.items) next[item.kind] = (next[item.kind] ?? 0) + 1;
    changes.value = next;
    await pause(answer.items.length >= limit ? 5000 : 1000, stop);
  } else if (skipped) {
    poke();
  }
  // If there are too many changes, follow from now: the pages need to know only that there were some.
  return answer.items.length >= limit ? undefined : answer.cursor;
}

async function quiet(request: Request): Promise<Response> {
  request.headers.set("X-Carve-Console", "1");
  return fetch(request);
}

function shown(stop: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((done) => {
    const look = () => { if (!document.hidden || stop.aborted) { document.removeEventListener("visibilitychange", look); done(); } };
    document.addEventListener("visibilitychange", look);
    stop.addEventListener("abort", look);
  });
}

/** Follows a project until the signal aborts. */
export async function follow(project: string, stop: AbortSignal) {
  let cursor: string | undefined;
  let failures = 0;
  while (!stop.aborted) {
    await shown(stop);
    try {
      cursor = await step(project, cursor, stop);
      if (failures > 0) poke();
      failures = 0;
    } catch (cause) {
      if (stop.aborted) return;
      live.value = false;
      if (cause instanceof Refused && cause.problem.code === "cursor_expired") cursor = undefined;
      if (cause instanceof Refused && cause.problem.status === 401) signedOut.value = true;
      if (cause instanceof Refused && [401, 403, 404].includes(cause.problem.status)) return;
      await pause(Math.min(30_000, 1000 * 2 ** failures++), stop);
    }
  }
}

/** Marks every kind as changed, because anything may have changed in a gap. */
function poke() {
  changes.value = Object.fromEntries(
    ["IPPool", "IPClaim", "IPAllocation", "IPClass", "Quota", "IPConsumer", "Alert"].map((k) => [k, (changes.value[k] ?? 0) + 1]),
  );
}
