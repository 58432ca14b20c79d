import assert from "node:assert/strict";
import { test } from "node:test";

import { createCarve, isProblem } from "../src/index.js";
import { all, setUp } from "./between.js";

test("a list is read page by page", async (t) => {
  const { carve, between, project } = await setUp();
  t.after(() => between[Symbol.asyncDispose]());
  const names = Array.from({ length: 7 }, (_, i) => `node-${i}`);
  await carve.POST("/v1/projects/{project}/claim-batches", {
    params: { path: { project } },
    body: { claims: names.map((name) => ({ metadata: { name }, spec: { poolRef: { name: "prod" }, prefixLength: 28 } })) },
  });
  const claims = () => carve.items("/v1/projects/{project}/claims", { params: { path: { project }, query: { limit: 3 } } });

  await t.test("items come once, in pages of the requested size", async () => {
    between.lose(0);
    assert.deepEqual((await all(claims())).map((c) => c.metadata.name), names);
    assert.deepEqual(between.seen.map((s) => s.url.searchParams.get("limit")), ["3", "3", "3"]);
  });
  await t.test("a loop that ends early fetches no further page", async () => {
    between.lose(0);
    for await (const claim of claims()) {
      assert.equal(claim.metadata.name, "node-0");
      break;
    }
    assert.equal(between.seen.length, 1);
  });
  await t.test("a page with a lost response is retried", async () => {
    between.lose(2, { midway: true });
    assert.equal((await all(claims())).length, 7);
    assert.equal(between.seen.length, 5);
  });
  await t.test("its signal ends the list", async () => {
    const end = new AbortController();
    const list = carve.items("/v1/projects/{project}/claims", { params: { path: { project }, query: { limit: 3 } }, signal: end.signal });
    for (let i = 0; i < 3; i++) await list.next();
    between.lose(0);
    end.abort();
    await assert.rejects(list.next(), { name: "CarveNoAnswer" });
    assert.equal(between.seen.length, 0);
  });
  await t.test("a refusal is thrown", async () => {
    await assert.rejects(all(carve.items("/v1/projects/{project}/pools", { params: { path: { project: "nobody" } } })), (e) =>
      isProblem(e, "not_found"),
    );
  });
  await t.test("other lists return other kinds", async () => {
    const [pool] = await all(carve.items("/v1/projects/{project}/pools", { params: { path: { project } } }));
    assert.equal(pool?.spec.cidr, "10.20.0.0/16");
    const regions = await all(carve.items("/v1/regions"));
    assert.equal(regions.length, 1);
    const free = await all(carve.items("/v1/projects/{project}/pools/{pool}/free", { params: { path: { project, pool: "prod" } } }));
    assert.ok(free.length > 0 && free.every((b) => b.cidr.startsWith("10.20.")));
  });
});

test("a repeated page ends the list with an error", async () => {
  const same = () => Promise.resolve(Response.json({ items: [{}], nextCursor: "again" }));
  const carve = createCarve({ baseUrl: "http://127.0.0.1:1", fetch: same });
  await assert.rejects(all(carve.items("/v1/projects")), /the same again/);
});
