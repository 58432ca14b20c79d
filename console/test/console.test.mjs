// The console in a real browser against a real server. POOLS=100000 CLAIMS=1000000 makes the large project that large.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { again } from "./again.mjs";
import { charts } from "./charts.mjs";
import { details } from "./details.mjs";
import { forms } from "./forms.mjs";
import { launch } from "./harness.mjs";
import { journeys } from "./journeys.mjs";
import { keyboard } from "./keyboard.mjs";
import { large } from "./large.mjs";
import { looks } from "./looks.mjs";
import { seed, seedClaims, seedMany } from "./seed.mjs";
import { trouble } from "./trouble.mjs";
import { unused } from "./unused.mjs";
import { whole } from "./whole.mjs";

const parts = { journeys, charts, keyboard, looks, trouble, large, whole, again, unused, forms, details };
const pools = Number(process.env.POOLS ?? 2100);
const claims = Number(process.env.CLAIMS ?? 2000);
let browser;

before(async () => {
  await seed();
  const began = performance.now();
  await seedMany(pools);
  await seedClaims(claims);
  console.log(`${pools} pools and ${claims} claims made in ${Math.round((performance.now() - began) / 1000)} s`);
  browser = await launch();
});
after(() => browser?.close());

for (const [name, part] of Object.entries(parts)) {
  describe(name, () => {
    for (const [does, run] of Object.entries(part)) test(does, () => run(browser, assert, pools, claims));
  });
}
