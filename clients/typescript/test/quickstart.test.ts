import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { direct } from "./between.js";

// Does the same as a user: the package is packed and installed in a new project, where the program is type-checked and run.
test("the quick start with the packed package prints the output on its page", (t) => {
  const project = mkdtempSync(join(tmpdir(), "carve-quickstart-"));
  t.after(() => rmSync(project, { recursive: true }));
  const run = (cwd: string, program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd, encoding: "utf8", env: { ...process.env, CARVE_SERVER: direct } });

  const packed = run(".", "npm", "pack", "--silent", "--pack-destination", project).trim();
  writeFileSync(join(project, "package.json"), '{"private": true, "type": "module"}');
  run(project, "npm", "install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", `./${packed}`);
  copyFileSync("../../examples/clients/typescript/quickstart.mjs", join(project, "quickstart.mjs"));

  const page = readFileSync("../../docs/clients.md", "utf8");
  const [, want] = /^\$ node quickstart\.mjs\n([^`]*)```$/m.exec(page) ?? [];
  assert.equal(run(project, process.execPath, "quickstart.mjs"), want);

  const types = join(process.cwd(), "node_modules/@types");
  const strict = ["--checkJs", "--strict", "--noEmit", "--module", "NodeNext", "--target", "ES2022", "--types", "node", "--typeRoots", types];
  run(project, process.execPath, join(process.cwd(), "node_modules/typescript/bin/tsc"), ...strict, "quickstart.mjs");
});
