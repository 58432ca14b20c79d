import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { contractVersion, problemCodes } from "../src/index.js";

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
