// The console in a real browser against a real server. POOLS=100000 makes the large project that large.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch } from "./harness.mjs";
import { journeys } from "./journeys.mjs";
import { keyboard } from "./keyboard.mjs";
import { large } from "./large.mjs";
import { looks } from "./looks.mjs";
import { seed, seedMany } from "./seed.mjs";
import { trouble } from "./trouble.mjs";

const parts = { journeys, keyboard, looks, trouble, large };
const pools = Number(process.env.POOLS ?? 2100);
let browser;

before(async () => {
  await seed();
  await seedMany(pools);
  browser = await launch();
});
after(() => browser?.close());

for (const [name, part] of Object.entries(parts)) {
  describe(name, () => {
    for (const [does, run] of Object.entries(part)) test(does, () => run(browser, assert, pools));
  });
}
