import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { calling } from "../src/call.js";
import { contractVersion, problemCodes } from "../src/index.js";
import { direct } from "./between.js";

// npm runs tests in the folder of the package.
const contract = readFileSync("../../openapi.yaml", "utf8");

test("the client and its package have the version of the contract", () => {
  const [, version] = /^info:\n(?: .*\n)*? {2}version: (\S+)$/m.exec(contract) ?? [];
  const read = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  assert.equal(contractVersion, version);
  assert.equal(read.version, version);
});

test("every code has its page", () => {
  const pages = readdirSync("../../docs/problems").filter((f) => f.endsWith(".md"));
  assert.deepEqual([...problemCodes].sort(), pages.map((f) => f.slice(0, -".md".length)).sort());
});

/** The parts of the contract that the test of the successes reads. */
interface Contract {
  readonly paths: Record<string, Record<string, { readonly operationId?: string; readonly responses?: Record<string, { readonly content?: object }> }>>;
}

test("every success status of the contract is accepted", async () => {
  const { paths } = (await (await fetch(`${direct}/openapi.json`)).json()) as Contract;
  const accepted = new Set<string>();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { operationId, responses = {} }] of Object.entries(item)) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (!status.startsWith("2")) continue;
        const headers = content === undefined ? {} : { "Content-Type": "application/json" };
        const answer = new Response(content === undefined ? null : "{}", { status: Number(status), headers });
        const client = calling({ baseUrl: direct, fetch: () => Promise.resolve(answer) });
        const response = await client.fetch(new Request(direct + path, { method: method.toUpperCase() }));
        assert.equal(response.status, Number(status), operationId);
        accepted.add(`${operationId} ${status}`);
      }
    }
  }
  assert.ok(accepted.has("endConsumer 202"), "the test has read the operations");
});
