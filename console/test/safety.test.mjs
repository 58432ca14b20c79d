// Sign-in at an issuer, Swagger UI, import and export in a real browser, each with its own servers.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch } from "./harness.mjs";
import { issuer, start } from "./servers.mjs";
import { signIn } from "./signin.mjs";
import { swagger } from "./swagger.mjs";
import { transfer } from "./transfer.mjs";

let browser;
before(async () => { browser = await launch(); });
after(() => browser?.close());

describe("sign-in", () => {
  const at = {};
  before(async () => {
    at.issuer = await issuer();
    const flags = ["--auth=keys,oidc", `--oidc-config=${at.issuer.file}`, "--log-level=debug"];
    at.server = await start(flags);
    at.other = await start(flags, at.server.database);
  });
  after(async () => { for (const each of [at.other, at.server, at.issuer]) await each?.stop(); });
  for (const [does, run] of Object.entries(signIn)) test(does, () => run(browser, assert, at));
});

for (const [name, part] of Object.entries({ swagger, transfer })) {
  describe(name, () => {
    const at = {};
    before(async () => { at.server = await start(["--auth=dev", "--log-level=warn"]); });
    after(() => at.server?.stop());
    for (const [does, run] of Object.entries(part)) test(does, () => run(browser, assert, at));
  });
}
