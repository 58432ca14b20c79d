import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { createCarve, type CarveOptions, type Repeat } from "../src/index.js";
import { defaultRetry, pauseAfter, wait } from "../src/retry.js";

const asking = (status: number, seconds: string) => new Response(null, { status, headers: { "Retry-After": seconds } });

test("pauses grow, half of each by chance, and are bounded", () => {
  for (const [attempt, full] of [[1, 200], [2, 800], [3, 3_200], [4, 10_000], [10, 10_000]] as const) {
    const { pause, bounded } = pauseAfter(defaultRetry, attempt, undefined);
    assert.ok(bounded && pause >= full / 2 && pause <= full, `${pause} of ${full}`);
  }
});

test("pauses outlast the restart of a server", () => {
  let all = 0;
  for (let attempt = 1; attempt < defaultRetry.attempts; attempt++) all += pauseAfter(defaultRetry, attempt, undefined).pause;
  assert.ok(all > 7_000, String(all));
});

test("a pause is at least Retry-After, and a longer one than the limit ends the call", () => {
  assert.deepEqual(pauseAfter(defaultRetry, 1, asking(429, "7")), { pause: 7000, bounded: true });
  assert.equal(pauseAfter(defaultRetry, 1, asking(503, "3600")).bounded, false);
  const inAMinute = new Date(Date.now() + 60_000).toUTCString();
  const { pause } = pauseAfter(defaultRetry, 1, asking(503, inAMinute));
  assert.ok(pause > 30_000 && pause <= 60_000, String(pause));
});

test("a signal ends the pause", async () => {
  const end = new AbortController();
  const pause = wait(2 ** 30, end.signal);
  end.abort(new Error("enough"));
  await assert.rejects(pause, /enough/);
});

/** Makes a client whose fetch is a function, and records its retries. */
function client(fetch: typeof globalThis.fetch, options: Partial<CarveOptions> = {}) {
  const repeats: Repeat[] = [];
  const carve = createCarve({
    baseUrl: "https://carve.example.com",
    fetch,
    ...options,
    retry: { firstPause: 0, onRepeat: (r) => repeats.push(r), ...options.retry },
  });
  return { carve, repeats };
}

test("an attempt without a response in time is retried", async () => {
  let calls = 0;
  const silentAtFirst: typeof fetch = (input) => {
    if (++calls > 1) return Promise.resolve(Response.json({}));
    assert.ok(input instanceof Request);
    const { signal } = input;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  };
  const { carve, repeats } = client(silentAtFirst, { retry: { attemptTimeout: 1000 } });
  const alive = setInterval(() => undefined, 1000); // the timers of AbortSignal do not keep a program alive
  await carve.GET("/v1/version");
  clearInterval(alive);
  assert.deepEqual(repeats.map((r) => r.reason), ["there was no response in time"]);
});

test("a pause longer than the call is not begun", async () => {
  const { carve, repeats } = client(() => Promise.resolve(asking(503, "9")), { timeout: 5000 });
  await assert.rejects(carve.GET("/v1/version"));
  assert.equal(repeats.length, 0);
});

test("every request has the credential, and an explanation has no key", async () => {
  const answer = mock.fn((_: string | URL | Request) => Promise.resolve(Response.json({})));
  const { carve } = client(answer, { token: () => Promise.resolve("jwt"), headers: { "X-Request-Id": "deploy-42" }, userAgent: "deployer/1.4" });
  await carve.POST("/v1/projects/{project}/claim-explanations", { params: { path: { project: "team-a" } }, body: { spec: {} } });
  const sent = answer.mock.calls[0]?.arguments[0];
  assert.ok(sent instanceof Request);
  assert.equal(sent.headers.get("Authorization"), "Bearer jwt");
  assert.equal(sent.headers.get("X-Request-Id"), "deploy-42");
  assert.match(sent.headers.get("User-Agent") ?? "", /^deployer\/1\.4 carve-typescript\/\d/);
  assert.equal(sent.headers.get("Idempotency-Key"), null);
  assert.equal(sent.redirect, "manual", "it would take the credential elsewhere");
});

test("a credential over plain HTTP is refused", () => {
  for (const baseUrl of ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:8080", "https://carve.example.com"]) {
    createCarve({ baseUrl, apiKey: "carve_a_b" });
  }
  for (const baseUrl of ["http://carve.example.com", "http://localhost.example.com", "http://10.0.0.1:8080", "http://127.0.0.1.example.com"]) {
    assert.throws(() => createCarve({ baseUrl, apiKey: "carve_a_b" }), /plain http/);
    createCarve({ baseUrl, apiKey: "carve_a_b", insecureHttp: true });
  }
});

test("an invalid option is refused without its value in the error", () => {
  for (const baseUrl of ["", "carve.example.com", "ftp://carve.example.com", "https://x/?a=b", "https://x/#a", "https://me:hunter2@x"]) {
    assert.throws(() => createCarve({ baseUrl }), (e) => e instanceof TypeError && !e.message.includes("hunter2"));
  }
  const baseUrl = "https://carve.example.com";
  assert.throws(() => createCarve({ baseUrl, apiKey: "" }), TypeError);
  assert.throws(() => createCarve({ baseUrl, apiKey: "hunter2\nX-Evil: 1" }), (e) => e instanceof TypeError && !e.message.includes("hunter2"));
  assert.throws(() => createCarve({ baseUrl, retry: { attempts: 0 } }), RangeError);
  assert.throws(() => createCarve({ baseUrl, timeout: -1 }), RangeError);
});
