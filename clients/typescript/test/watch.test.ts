import assert from "node:assert/strict";
import { test } from "node:test";

import { createCarve, isProblem, type WatchEvent } from "../src/index.js";
import { claimsOf, setUp } from "./between.js";

test("a copy kept by a watch equals the lists", async (t) => {
  const { carve, between, project } = await setUp();
  t.after(() => between[Symbol.asyncDispose]());
  await carve.claim(project, "first", { poolRef: { name: "prod" }, prefixLength: 28 });
  const end = new AbortController();
  const copy = new Map<string, string>();
  const errors: unknown[] = [];
  const steps: string[] = [];
  for await (const event of carve.watch("IPClaim", { project, signal: end.signal, waitSeconds: 1, onError: (e) => errors.push(e) })) {
    steps.push(event.type);
    if (event.type === "Put") copy.set(event.name, event.object.status.allocatedCIDR);
    if (event.type === "Delete") copy.delete(event.name);
    if (event.type === "Synced") {
      assert.deepEqual([...copy.keys()], ["first"]);
      between.lose(2, { midway: true });
      await carve.claim(project, "second", { poolRef: { name: "prod" }, prefixLength: 28 });
      await carve.release(project, "first");
    }
    if (copy.has("second") && !copy.has("first")) end.abort();
  }
  assert.deepEqual([...copy], (await claimsOf(project)).map((c) => [c.metadata.name, c.status.allocatedCIDR]));
  assert.equal(steps.filter((s) => s === "Synced").length, 1);
  assert.deepEqual(errors, [], "what a repeat mends is no error");
});

test("an allocation is named by its uid, and ends with its claim", async (t) => {
  const { carve, between, project } = await setUp();
  t.after(() => between[Symbol.asyncDispose]());
  await carve.claim(project, "web", { poolRef: { name: "prod" }, prefixLength: 28 });
  const end = new AbortController();
  const told: WatchEvent<{ metadata: { uid: string } }>[] = [];
  for await (const event of carve.watch("IPAllocation", { project, signal: end.signal, waitSeconds: 1 })) {
    told.push(event);
    if (event.type === "Synced") await carve.release(project, "web");
    if (event.type === "Delete") end.abort();
  }
  assert.equal(told[0]?.type === "Put" ? told[0].object.metadata.uid : "", told.find((e) => e.type === "Delete")?.name);
});

test("a watch lists again when its cursor has expired, and reports deletions", async () => {
  const item = (name: string) => ({ metadata: { name, uid: name }, spec: {}, status: {} });
  const problem = { type: "/problems/cursor_expired", title: "", status: 410, detail: "Too old.", code: "cursor_expired", traceId: "" };
  const answers = [
    Response.json({ items: [item("a"), item("b")], changesCursor: "x" }),
    Response.json(problem, { status: 410, headers: { "Content-Type": "application/problem+json" } }),
    Response.json({ items: [item("b")], changesCursor: "y" }),
  ];
  const end = new AbortController();
  const carve = createCarve({ baseUrl: "http://127.0.0.1:1", fetch: () => Promise.resolve(answers.shift() ?? Response.error()) });
  const told: string[] = [];
  for await (const event of carve.watch("IPClaim", { project: "team-a", signal: end.signal })) {
    told.push(event.type === "Synced" ? "Synced" : `${event.type} ${event.name}`);
    if (told.filter((s) => s === "Synced").length === 2) end.abort();
  }
  assert.deepEqual(told, ["Put a", "Put b", "Synced", "Put b", "Delete a", "Synced"]);
});

test("a permanent refusal ends a watch", async (t) => {
  const { carve, between } = await setUp();
  t.after(() => between[Symbol.asyncDispose]());
  await assert.rejects(carve.watch("IPPool", { project: "nobody" }).next(), (e) => isProblem(e, "not_found"));
});
