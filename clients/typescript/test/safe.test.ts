import assert from "node:assert/strict";
import { test } from "node:test";

import { repeat } from "../src/repeat.js";
import { defaultRetry } from "../src/retry.js";
import { takesNoKey } from "../src/safe.js";

type Reply = "cut" | "refused" | "done" | number | string; // number: a proxy's response; another string: the code of a problem

const statuses: Record<string, number> = {
  rate_limited: 429,
  contention: 503,
  unavailable: 503,
  outcome_unknown: 503,
  deadline: 504,
  internal: 500,
  pool_exhausted: 409,
  not_found: 404,
  precondition_failed: 412,
  unauthenticated: 401,
  permission_denied: 403,
};

/** Returns the success of the contract for a request. */
function success(request: Request): Response {
  if (request.method === "DELETE") return new Response(null, { status: 204 });
  const status = request.method === "POST" && !takesNoKey(request) ? 201 : 200;
  return new Response("{}", { status, headers: { "Content-Type": "application/json" } });
}

/** Sends a request to a fetch that replies by a script. */
async function sendBy(replies: Reply[], method: string, path: string, headers: Record<string, string>, policy = {}) {
  const sent: { headers: [string, string][]; body: string }[] = [];
  const send = async (input: string | URL | Request): Promise<Response> => {
    assert.ok(input instanceof Request);
    sent.push({ headers: [...input.headers], body: await input.text() });
    const reply = replies[sent.length - 1] ?? "done";
    if (reply === "cut") throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) });
    if (reply === "refused") throw new TypeError("fetch failed", { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
    if (reply === "done") return success(input);
    if (typeof reply === "number") return new Response("{}", { status: reply, headers: { "Content-Type": "text/html", "Retry-After": "0" } });
    const body = JSON.stringify({ code: reply });
    return new Response(body, { status: statuses[reply] ?? 0, headers: { "Content-Type": "application/problem+json" } });
  };
  const body = method === "GET" || method === "DELETE" ? null : "body";
  const request = new Request(`http://127.0.0.1:1/v1/projects/team-a/${path}`, { method, headers, body });
  const end = await repeat(send, request, { ...defaultRetry, firstPause: 0, ...policy }, new AbortController().signal, Infinity);
  for (const one of sent) assert.deepEqual(one, sent[0], "each attempt is the whole request");
  return { end, sent: sent.length, status: "answer" in end.outcome ? end.outcome.answer.response.status : 0 };
}

const key = { "Idempotency-Key": "k" };
const revision = { "If-Match": '"r"' };
const anyRevision = { "If-Match": "*" };

test("only safe requests are retried", async (t) => {
  const cases: [name: string, method: string, path: string, headers: Record<string, string>, first: Reply, sent: number, open: boolean][] = [
    ["GET after a cut", "GET", "claims", {}, "cut", 2, false],
    ["POST with its key after a cut", "POST", "claims", key, "cut", 2, false],
    ["POST without a key after a cut", "POST", "claims", {}, "cut", 1, true],
    ["POST without a key that never left", "POST", "claims", {}, "refused", 1, false],
    ["an explanation after a cut", "POST", "claim-explanations", {}, "cut", 2, false],
    ["a release of many after a cut", "POST", "claim-releases", {}, "cut", 2, false],
    ["a release of many that never left", "POST", "claim-releases", {}, "refused", 2, false],
    ["a release of many past its deadline", "POST", "claim-releases", {}, "deadline", 1, true],
    ["a dry release of many past its deadline", "POST", "claim-releases?dryRun=true", {}, "deadline", 1, false],
    ["a renewal past its deadline", "POST", "consumer-renewals", {}, "deadline", 1, true],
    ["a confirmation past its deadline", "POST", "realms/default/expiry-confirmations", {}, "deadline", 1, true],
    ["a dead letter sent again past its deadline", "POST", "webhooks/w/deliveries/1/retries", {}, "deadline", 1, true],
    ["an explanation past its deadline", "POST", "claim-explanations", {}, "deadline", 1, false],
    ["PUT after a cut", "PUT", "claims/web", {}, "cut", 2, false],
    ["PUT of a revision after a cut", "PUT", "claims/web", revision, "cut", 1, true],
    ["PUT that creates only after a cut", "PUT", "claims/web", { "If-None-Match": "*" }, "cut", 1, true],
    ["PUT of a revision that never left", "PUT", "claims/web", revision, "refused", 2, false],
    ["DELETE after a cut", "DELETE", "claims/web", {}, "cut", 1, true],
    ["DELETE of any revision after a cut", "DELETE", "claims/web", anyRevision, "cut", 1, true],
    ["DELETE of a revision after a cut", "DELETE", "claims/web", revision, "cut", 2, false],
    ["DELETE that the server was too busy for", "DELETE", "claims/web", {}, "unavailable", 2, false],
    ["DELETE of unknown outcome", "DELETE", "claims/web", {}, "outcome_unknown", 1, true],
    ["DELETE that a proxy lost", "DELETE", "claims/web", {}, 503, 1, true],
    ["dry DELETE after a cut", "DELETE", "claims/web?dryRun=true", {}, "cut", 2, false],
    ["PATCH of a revision after a cut", "PATCH", "claims/web", revision, "cut", 1, true],
    ["PATCH of any revision after a cut", "PATCH", "claims/web", anyRevision, "cut", 2, false],
    ["POST of unknown outcome", "POST", "claims", key, "outcome_unknown", 2, false],
    ["POST with contention", "POST", "claims", key, "contention", 2, false],
    ["POST over the limit", "POST", "claims", key, "rate_limited", 2, false],
    ["POST that a proxy lost", "POST", "claims", key, 502, 2, false],
    ["POST that was refused", "POST", "claims", key, "pool_exhausted", 1, false],
    ["POST past its deadline", "POST", "claims", key, "deadline", 1, true],
    ["POST that met a bug", "POST", "claims", key, "internal", 1, false],
  ];
  for (const [name, method, path, headers, first, sent, open] of cases) {
    await t.test(name, async () => {
      const got = await sendBy([first], method, path, headers);
      assert.equal(got.sent, sent);
      assert.equal(got.end.attempts, sent);
      assert.equal(got.end.mayBeDone, open);
    });
  }
});

test("a lost attempt keeps the outcome open", async (t) => {
  const busy: Reply[] = Array.from({ length: 4 }, () => "unavailable");
  const away: Reply[] = Array.from({ length: 4 }, () => "refused");
  const cases: [name: string, method: string, path: string, headers: Record<string, string>, replies: Reply[], status: number, open: boolean][] = [
    ["POST lost, then no connection", "POST", "claims", key, ["cut", ...away], 0, true],
    ["POST that never left", "POST", "claims", key, ["refused", ...away], 0, false],
    ["POST lost, then busy", "POST", "claims", key, ["cut", ...busy], 503, true],
    ["POST lost, then refused", "POST", "claims", key, ["cut", "pool_exhausted"], 409, false],
    ["release lost, then no connection", "POST", "claim-releases", {}, ["cut", ...away], 0, true],
    ["release lost, then refused", "POST", "claim-releases", {}, ["cut", "precondition_failed"], 412, true],
    ["release lost, then done", "POST", "claim-releases", {}, ["cut", "done"], 200, false],
    ["release that never left, then refused", "POST", "claim-releases", {}, ["refused", "precondition_failed"], 412, false],
    ["explanation lost", "POST", "claim-explanations", {}, ["cut", ...away], 0, false],
    ["DELETE lost, then not found", "DELETE", "claims", revision, ["cut", "not_found"], 204, false],
    ["DELETE lost, then not found from a proxy", "DELETE", "claims", revision, ["cut", 404], 404, true],
    ["DELETE lost, then another revision", "DELETE", "claims", revision, ["cut", "precondition_failed"], 412, true],
    ["POST lost, then unauthenticated", "POST", "claims", key, ["cut", "unauthenticated"], 401, true],
    ["POST lost, then denied", "POST", "claims", key, ["cut", "permission_denied"], 403, true],
    ["POST lost, then no access to the project", "POST", "claims", key, ["cut", "not_found"], 404, true],
    ["POST lost, then the redirect of a proxy", "POST", "claims", key, ["cut", 302], 302, true],
    ["POST lost, then the refusal of a proxy", "POST", "claims", key, ["cut", 403], 403, true],
    ["PUT lost, then the refusal of a proxy", "PUT", "claims/web", {}, ["cut", 413], 413, true],
    ["POST lost, then done", "POST", "claims", key, ["cut", "done"], 201, false],
    ["POST that a proxy refused", "POST", "claims", key, [403], 403, false],
    ["POST that a proxy answered", "POST", "claims", key, [200], 200, true],
    ["POST that a proxy failed", "POST", "claims", key, [500], 500, true],
    ["DELETE of a missing object", "DELETE", "claims", revision, ["unavailable", "not_found"], 404, false],
  ];
  for (const [name, method, path, headers, replies, status, open] of cases) {
    await t.test(name, async () => {
      const got = await sendBy(replies, method, path, headers);
      assert.equal(got.sent, replies.length);
      assert.equal(got.status, status);
      assert.equal(got.end.mayBeDone, open);
    });
  }
});
