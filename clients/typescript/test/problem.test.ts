import assert from "node:assert/strict";
import { test } from "node:test";

import { CarveForeignAnswer, CarveProblem, createCarve, isProblem } from "../src/index.js";
import { setUp } from "./between.js";

test("a refusal is a typed error", async (t) => {
  const { carve, between, project } = await setUp();
  t.after(() => between[Symbol.asyncDispose]());
  await carve.claim(project, "all", { poolRef: { name: "prod" }, prefixLength: 16 });
  between.lose(0);
  const thrown: unknown = await carve.claim(project, "more", { poolRef: { name: "prod" }, prefixLength: 24 }).catch((e: unknown) => e);
  assert.ok(isProblem(thrown, "pool_exhausted", "exhausted_by_cooldown"));
  assert.equal(thrown.code, "pool_exhausted");
  assert.equal(thrown.status, 409);
  assert.equal(thrown.problem.wantedPrefixLength, 24);
  assert.equal(thrown.mayBeDone, false);
  assert.equal(thrown.call.attempts, 1, "a full pool is not asked again");
  assert.ok(thrown.call.requestId);
  assert.ok(thrown.message.includes(thrown.problem.detail));
});

test("a stale revision is a conflict", async (t) => {
  const { carve, between, project } = await setUp();
  t.after(() => between[Symbol.asyncDispose]());
  const path = { project, pool: "prod" };
  const read = await carve.GET("/v1/projects/{project}/pools/{pool}", { params: { path } });
  const header = { "If-Match": read.response.headers.get("ETag") ?? "" };
  const body = { metadata: { labels: { env: "prod" } } };
  const { data } = await carve.PATCH("/v1/projects/{project}/pools/{pool}", { params: { path, header }, body });
  assert.deepEqual(data.metadata.labels, { env: "prod" });
  await assert.rejects(carve.PATCH("/v1/projects/{project}/pools/{pool}", { params: { path, header }, body: { metadata: { labels: {} } } }), (e) =>
    isProblem(e, "precondition_failed"),
  );
});

test("the response of a proxy is a foreign error", async (t) => {
  const answers: Record<string, () => Response> = {
    "an error page": () => new Response("<h1>no</h1>", { status: 403 }),
    "a login page": () => new Response("<h1>log in</h1>", { headers: { "Content-Type": "text/html" } }),
    "another API": () => Response.json({}, { status: 202 }),
    "a redirect": () => Response.redirect("https://elsewhere.example/", 302),
  };
  for (const [name, answer] of Object.entries(answers)) {
    await t.test(name, async () => {
      const carve = createCarve({ baseUrl: "https://carve.example.com", fetch: () => Promise.resolve(answer()) });
      await assert.rejects(carve.GET("/v1/version"), (e) => e instanceof CarveForeignAnswer && !(e instanceof CarveProblem));
    });
  }
});

test("an unknown outcome names the idempotency key", async () => {
  const problem = { code: "outcome_unknown", status: 503, detail: "Nobody knows.", type: "/problems/outcome_unknown", title: "" };
  const carve = createCarve({
    baseUrl: "https://carve.example.com",
    retry: { firstPause: 0 },
    fetch: () => Promise.resolve(new Response(JSON.stringify(problem), { status: 503, headers: { "Content-Type": "application/problem+json" } })),
  });
  const thrown: unknown = await carve.POST("/v1/projects", { body: { metadata: { name: "team-a" } } }).catch((e: unknown) => e);
  assert.ok(isProblem(thrown, "outcome_unknown"));
  assert.equal(thrown.mayBeDone, true);
  assert.equal(thrown.call.attempts, 5);
  assert.ok(thrown.message.includes(thrown.call.idempotencyKey ?? "none"));
});
