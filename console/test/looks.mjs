// Every page in both colour schemes: checks it with axe, and that it fits a phone.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { open } from "./harness.mjs";
import { project } from "./seed.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const at = (page) => `/projects/${project}${page}`;

export const pages = {
  projects: ["/projects", "Projects"],
  overview: [at(""), project],
  pools: [at("/pools"), "Pools"],
  pool: [at("/pools/eu-prod-apps"), "eu-prod-apps"],
  "pool, free": [at("/pools/eu-prod-apps?tab=free"), "eu-prod-apps"],
  "pool, held": [at("/pools/eu-prod-k8s?tab=claims"), "eu-prod-k8s"],
  "pool, why": [at("/pools/eu-dns?tab=why"), "eu-dns"],
  "pool, about": [at("/pools/eu-prod?tab=about"), "eu-prod"],
  "new pool": [at("/new-pool?parent=na"), "New pool"],
  split: [at("/pools/na/split"), "Split na"],
  "hand over": [at("/pools/na/hand-over"), "Carve for a team"],
  claims: [at("/claims"), "Claims"],
  claim: [at("/claims/web-1"), "web-1"],
  "new claim": [at("/new-claim?pool=eu-dns&size=31"), "Claim a block"],
  unused: [at("/unused?days=0"), "Unused"],
  address: [at("/addresses/10.1.0.18"), "10.1.0.18"],
  alerts: [at("/alerts"), "Alerts"],
  quotas: [at("/quotas"), "Quotas"],
  grants: [at("/grants"), "Grants"],
  audit: [at("/audit"), "Audit trail"],
  search: ["/search?q=eu", "Search: eu"],
  "nothing there": ["/nowhere", "There is no such page"],
};

/** Loads a page and waits until it shows its data. */
export async function settle(page, go, [path, heading]) {
  await go(path);
  await page.getByRole("heading", { name: heading, exact: true, level: 1 }).waitFor();
  await page.locator(".waiting").first().waitFor({ state: "detached" });
  await page.waitForFunction(() => document.querySelectorAll(".waiting").length === 0);
}

export const everything = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const coloured = ["color-contrast", "link-in-text-block"]; // rules whose result depends on the scheme

export async function check(page, name, found, rules) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly }), rules);
  for (const v of violations)
    found.push(
      `${name}: ${v.id}: ${v.nodes
        .slice(0, 3)
        .map((n) => n.html.slice(0, 140) + " — " + n.failureSummary?.split("\n")[1])
        .join(" | ")}`,
    );
}

const inScheme = (colorScheme, rules) => async (browser, assert) => {
  // The debugger's protocol injects axe, because the policy admits only scripts of the server.
  const { page, at: go, wrong } = await open(browser, { colorScheme });
  const found = [];
  for (const [name, where] of Object.entries(pages)) {
    await settle(page, go, where);
    await check(page, name, found, rules);
  }
  await page.context().close();
  assert.deepEqual(found, []);
  assert.deepEqual(wrong, []);
};

export const looks = {
  "axe finds nothing in light": inScheme("light", everything),
  "axe finds nothing in dark": inScheme("dark", coloured),

  async "each page fits a phone"(browser, assert) {
    const { page, at: go, wrong } = await open(browser, { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true });
    const wide = [];
    for (const [name, where] of Object.entries(pages)) {
      await settle(page, go, where);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      if (width > 375) wide.push(`${name}: ${width}`);
    }
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: "All projects" }).click();
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    await page.context().close();
    assert.deepEqual(wide, []);
    assert.deepEqual(wrong, []);
  },

  async "the scheme switch overrides the system, and is kept"(browser, assert) {
    const { page, at: go } = await open(browser, { colorScheme: "light" });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await settle(page, go, pages.projects);
    const light = await ground();
    await page.getByLabel("Colours").selectOption("dark");
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    await page.getByRole("heading", { name: "Projects" }).waitFor();
    assert.equal(await ground(), dark);
    await page.context().close();
  },
};
