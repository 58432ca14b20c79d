// The tasks that a newcomer must manage without documentation.
import { call, open } from "./harness.mjs";
import { project } from "./seed.mjs";

export const journeys = {
  async "find who holds an address"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}`);
    const holder = await call("GET", `/v1/projects/${project}/claims/web-5`);
    const address = holder.status.allocatedCIDR.split("/")[0];
    await page.getByRole("combobox", { name: /Search/ }).fill(address);
    await page.getByRole("option").filter({ hasText: "Address" }).first().click();
    await page.getByRole("heading", { name: address }).waitFor();
    await page.getByText("Held by claim").waitFor();
    await page.getByRole("link", { name: "web-5" }).first().waitFor();
    assert.deepEqual(await page.getByRole("region", { name: "Space default" }).locator(".chain li a").allTextContents(), ["corp", "eu", "eu-prod", "eu-prod-apps"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "see why a pool is full, and what would help"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}`);
    await page.getByRole("region", { name: "Fullest pools" }).getByRole("link", { name: "eu-dns" }).click();
    await page.getByRole("tab", { name: "Why is it full?" }).click();
    await page.getByText("Held by claims and child pools").waitFor();
    await page.getByText("Would be refused").waitFor();
    await page.getByText("pool_exhausted").waitFor();
    assert.ok(await page.getByText("Remedies").isVisible());
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "carve a /24 for a team, and hand it over"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools`);
    await page.getByRole("searchbox", { name: /Filter/ }).fill("na-prod");
    await page.getByRole("link", { name: "na-prod", exact: true }).click();
    await page.getByRole("link", { name: "Carve for a team" }).click();
    await page.getByRole("combobox", { name: "Team" }).fill("shop");
    await page.getByText("Would be carved").waitFor();
    await page.getByText("10.16.0.0/24").waitFor();
    await page.getByRole("button", { name: "Carve and hand over" }).click();
    await page.getByText("Project shop can now claim from").waitFor();
    const made = await call("POST", "/v1/projects/shop/claims", {
      metadata: { name: "first" },
      spec: { poolRef: { project, name: "shop-24" }, prefixLength: 28 },
    });
    assert.equal(made.status.allocatedCIDR, "10.16.0.0/28");
    await page.getByRole("link", { name: "All grants" }).click();
    await page.getByRole("columnheader", { name: "shop" }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "find claims unused for 90 days, and release them"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await page.clock.setFixedTime(Date.now() + 91 * 86_400_000);
    await call("PUT", `/v1/projects/${project}/claims/used`, {
      spec: { poolRef: { name: "eu-prod-apps" }, prefixLength: 32, consumers: [{ uid: "vm-1", ttlSeconds: 3600 }] },
    });
    await at(`/projects/${project}`);
    await page.getByRole("link", { name: "Unused" }).click();
    await page.getByRole("status").filter({ hasText: /unused claims with .* addresses/ }).waitFor();
    assert.equal(await page.getByRole("row").filter({ hasText: "used" }).count(), 0, "what a consumer uses is not listed");
    await page.getByRole("checkbox", { name: "Choose web-60" }).check();
    await page.getByRole("button", { name: "Release 1 claim…" }).click();
    await page.getByRole("button", { name: "Release 1 claim", exact: true }).click();
    await page.getByText("1 claim released").waitFor();
    await assert.rejects(call("GET", `/v1/projects/${project}/claims/web-60`), /404/);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByLabel("Unused for").selectOption("365");
    await page.getByText("No claim was unused for 365 days").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "see what changed yesterday, and by whom"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    const { metadata } = await call("GET", `/v1/projects/${project}/quotas/total`);
    await page.clock.setFixedTime(Date.parse(metadata.createdAt) + 86_400_000); // the day may have changed by now
    await at(`/projects/${project}`);
    await page.getByRole("link", { name: "Audit trail" }).first().click();
    await page.getByRole("button", { name: "Yesterday" }).click();
    await page.getByRole("heading", { name: /^Yesterday/ }).waitFor();
    await page.getByText(/changes (shown )?by/).waitFor();
    await page.getByLabel("Kind").selectOption("Quota");
    await page.locator(".events summary").filter({ hasNotText: "quota" }).first().waitFor({ state: "detached" }); // or it is redrawn during the click
    const event = page.locator(".events summary").filter({ hasText: "set quota total" });
    await event.click();
    await page.getByRole("row").filter({ hasText: "spec.limits.claims" }).getByText("100").waitFor();
    await page.getByRole("button", { name: "Today" }).click();
    await page.getByText("No matching change on this day").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "claim a block with the live answer, take a remedy, and release it"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/new-claim?pool=eu-prod-apps`);
    await page.getByRole("textbox", { name: "Name" }).fill("by-hand");
    await page.getByLabel("Size").fill("12");
    await page.getByText("never_satisfiable").waitFor();
    await page.getByRole("button", { name: "Use /20" }).click();
    await page.getByText("pool_exhausted").waitFor();
    await page.getByLabel("Size").fill("28");
    await page.getByText("Would get").waitFor();
    const promised = await page.locator(".outcome .big").textContent();
    await page.getByText("The same as curl").click();
    await page.getByRole("tab", { name: "ipamctl" }).click();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it fits the page");
    assert.equal(await page.locator(".copy pre").textContent(), `ipamctl claim create by-hand -p ${project} --pool eu-prod-apps --prefix-length 28`);
    await page.getByRole("tab", { name: "Terraform" }).click();
    assert.equal(await page.locator(".copy pre").textContent(), [
      'resource "carve_claim" "by_hand" {', `  project       = "${project}"`, '  name          = "by-hand"',
      '  pool          = "eu-prod-apps"', "  prefix_length = 28", "}",
    ].join("\n"));
    await page.getByRole("button", { name: "Claim", exact: true }).click();
    await page.getByRole("heading", { name: "by-hand" }).waitFor();
    await page.locator(".summary").getByText(promised).waitFor();
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByRole("button", { name: `Release ${promised}` }).click();
    await page.getByRole("heading", { name: "Claims" }).waitFor();
    await assert.rejects(call("GET", `/v1/projects/${project}/claims/by-hand`), /404/);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "split a pool after a preview"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-stage/split`);
    await page.getByText("4 parts of 4 can be carved").waitFor();
    assert.equal((await call("GET", `/v1/projects/${project}/pools?parent=eu-stage`)).items.length, 0, "a preview makes nothing");
    await page.getByRole("button", { name: "Carve 4 pools" }).click();
    await page.getByText("4 pools carved. All 4 parts are child pools.").waitFor();
    const made = await call("GET", `/v1/projects/${project}/pools?parent=eu-stage`);
    assert.deepEqual(made.items.map((pool) => pool.status.allocatedCIDR).sort(), ["10.4.0.0/17", "10.4.128.0/17", "10.5.0.0/17", "10.5.128.0/17"]);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "have alerts, and make a rule"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/alerts`);
    await page.getByRole("region", { name: "Now" }).getByRole("link", { name: "eu-dns" }).waitFor();
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("quotas");
    await page.getByLabel("About").selectOption("Quotas");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "All quotas" }).getByText("80 %").waitFor();
    await page.getByRole("button", { name: "Change quotas" }).click();
    await page.getByRole("button", { name: "Delete the rule" }).click();
    await page.getByRole("row").filter({ hasText: "All quotas" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "New rule" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("soon");
    await page.getByLabel("When").selectOption("runway");
    await page.getByRole("textbox", { name: "Within how many days" }).fill("14");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "soon" }).getByText("full within 14 days").waitFor();
    await page.getByRole("button", { name: "Change soon" }).click();
    await page.getByLabel("When").selectOption("percent"); // the runway disappears
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "soon" }).getByText("80 % or more").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "zoom a map from a pool to an address, and see changes as they come"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-prod-apps`);
    await page.getByRole("gridcell", { name: /^10\.1\.0\.0\/28: Reserved, Gateways/ }).waitFor();
    await page.getByText("Live").waitFor();
    await call("PUT", `/v1/projects/${project}/claims/live`, { spec: { poolRef: { name: "eu-prod-apps" }, cidr: "10.1.15.240/28" } });
    await page.getByRole("gridcell", { name: "10.1.15.240/28: Held by a claim, live" }).waitFor();
    await page.getByRole("gridcell", { name: /^10\.1\.15\.240\/28/ }).click();
    await page.getByRole("gridcell", { name: "10.1.15.241: Held by a claim, live" }).click();
    await page.getByRole("heading", { name: "10.1.15.241" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "10.1.0.0/20" }).click();
    await page.getByText("The same as a table").click();
    await page.getByRole("row").filter({ hasText: "Gateways" }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "see what changed while the page paused behind a burst"(browser, assert) {
    const burst = "burst";
    await call("POST", "/v1/projects", { metadata: { name: burst } });
    await call("POST", `/v1/projects/${burst}/pools`, { metadata: { name: "net" }, spec: { cidr: "10.9.0.0/24" } });
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${burst}/pools/net`);
    await page.getByText("Live").waitFor();
    const claim = (name, cidr) => ({ metadata: { name }, spec: { poolRef: { name: "net" }, cidr } });
    await call("POST", `/v1/projects/${burst}/claim-batches`, { claims: Array.from({ length: 60 }, (_, i) => claim(`c-${i}`, `10.9.0.${i}/32`)) });
    await page.getByRole("gridcell", { name: /^10\.9\.0\.0(\/32)?: Held by a claim, c-0/ }).waitFor();
    await call("POST", `/v1/projects/${burst}/claims`, claim("late", "10.9.0.240/32"));
    await page.getByRole("gridcell", { name: /^10\.9\.0\.240(\/32)?: Held by a claim, late/ }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
