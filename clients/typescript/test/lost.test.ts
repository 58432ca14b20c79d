import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";

import { CarveNoAnswer, isProblem, type CarveOptions } from "../src/index.js";
import { claimsOf, setUp } from "./between.js";

/** Claims while the first responses are lost. */
async function claimThroughLoss(losses: number, midway: boolean, options: Partial<CarveOptions> = {}) {
  const { carve, between, project } = await setUp(options);
  try {
    between.lose(losses, { midway });
    const { data } = await carve.POST("/v1/projects/{project}/claims", {
      params: { path: { project } },
      body: { metadata: { generateName: "node-" }, spec: { poolRef: { name: "prod" }, prefixLength: 24 } },
    });
    const lost = between.lost.map((body) => (JSON.parse(body) as typeof data).status.allocatedCIDR);
    return { got: data.status.allocatedCIDR, lost, sent: between.seen.length, rows: (await claimsOf(project)).length };
  } finally {
    await between[Symbol.asyncDispose]();
  }
}

for (const [name, midway] of [["before its first byte", false], ["in its middle", true]] as const) {
  test(`a retry after a response cut ${name} returns the same block`, async () => {
    const { got, lost, sent, rows } = await claimThroughLoss(3, midway);
    assert.deepEqual(lost, [got, got, got]);
    assert.equal(sent, 4);
    assert.equal(rows, 1);
  });
}

test("a retry with a new key claims a second block", async () => {
  // A broken variant of the client that sends a new key with each attempt.
  const rekey: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    if (request.method === "POST") request.headers.set("Idempotency-Key", randomUUID());
    return fetch(request);
  };
  const { got, lost, rows } = await claimThroughLoss(1, false, { fetch: rekey });
  assert.equal(rows, 2);
  assert.notEqual(lost[0], got);
});

test("a claim by name and its release succeed despite lost responses", async () => {
  const { carve, between, project } = await setUp();
  try {
    const spec = { poolRef: { name: "prod" }, prefixLength: 24 };
    between.lose(1);
    const block = await carve.claim(project, "web", spec);
    assert.match(block, /^10\.20\.\d+\.0\/24$/);
    assert.equal(between.seen.length, 2);
    assert.equal(await carve.claim(project, "web", spec), block, "the name is the key");
    assert.equal((await claimsOf(project)).length, 1);

    between.lose(1, { only: "DELETE" });
    await carve.release(project, "web");
    assert.deepEqual(between.seen.map((s) => s.method), ["GET", "DELETE", "DELETE"]);
    assert.equal((await claimsOf(project)).length, 0);
    await assert.rejects(carve.release(project, "web"), (e) => isProblem(e, "not_found"));
  } finally {
    await between[Symbol.asyncDispose]();
  }
});

test("a lost DELETE without a revision is reported as possibly done", async () => {
  const { carve, between, project } = await setUp();
  try {
    await carve.claim(project, "web", { poolRef: { name: "prod" }, prefixLength: 24 });
    between.lose(1);
    const deletion = carve.DELETE("/v1/projects/{project}/claims/{claim}", { params: { path: { project, claim: "web" } } });
    await assert.rejects(deletion, (e) => e instanceof CarveNoAnswer && e.mayBeDone);
    assert.equal(between.seen.length, 1, "it would delete what somebody made under that name meanwhile");
  } finally {
    await between[Symbol.asyncDispose]();
  }
});
