// Forms: errors are at the field and in words, previews are correct, commands work, and contents are kept.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { call, open, server } from "./harness.mjs";
import { project } from "./seed.mjs";

const ipamctl = new URL("../../bin/ipamctl", import.meta.url).pathname;
const claimForm = `/projects/${project}/new-claim?pool=eu-prod-apps`;
const small = (page, label) => page.locator(".field").filter({ has: page.getByRole("textbox", { name: label, exact: true }) }).locator("small");
const says = (page, label, text) => small(page, label).getByText(text).waitFor();

export const forms = {
  async "a label without = is refused at the field"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    for (const [path, button] of [[claimForm, "Claim"], [`/projects/${project}/new-pool?parent=na`, "Create pool"]]) {
      await at(path);
      await page.getByRole("textbox", { name: "Name" }).fill("labelled");
      await page.getByLabel("Size").fill("28");
      const send = page.getByRole("button", { name: button, exact: true });
      await page.getByRole("textbox", { name: "Labels" }).fill("branches, env=prod");
      await says(page, "Labels", "“branches” is not a label.");
      assert.ok(await send.isDisabled());
      await page.getByRole("textbox", { name: "Labels" }).fill("env=prod env=test");
      await says(page, "Labels", "The label env is listed twice.");
      await page.getByRole("textbox", { name: "Labels" }).fill("env=prod");
      await page.waitForFunction((text) => ![...document.querySelectorAll("button")].find((b) => b.textContent === text).disabled, button);
    }
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a name that is not valid or taken makes no green preview"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(claimForm);
    await page.getByLabel("Size").fill("30");
    await page.getByText("Would get").waitFor();
    await page.getByRole("textbox", { name: "Name" }).fill("Web 1");
    await says(page, "Name", "Use lower-case letters.");
    assert.equal(await page.getByText("Would get").count(), 0);
    await page.getByRole("textbox", { name: "Name" }).fill("web-1");
    await says(page, "Name", "This project already has a claim with this name.");
    assert.equal(await page.getByText("Would get").count(), 0);
    await page.getByRole("textbox", { name: "Name" }).fill("web-new");
    await page.getByText("Would get").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "an error of the server stands at its field, without JSON pointers"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/new-pool?parent=eu-dns`);
    await page.getByRole("textbox", { name: "Name" }).fill("beyond");
    await page.getByLabel("Size").fill("12");
    await page.locator(".field.wrong").filter({ hasText: "Size" }).waitFor();
    await page.getByRole("textbox", { name: "Labels" }).fill(`${"x".repeat(80)}=1`);
    await page.getByLabel("Size").fill("31");
    await page.getByRole("button", { name: "Create pool" }).click();
    await page.getByRole("alert").first().waitFor();
    assert.ok(!/\/(spec|metadata)\//.test(await page.locator("main").textContent()));
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the command for a team works"(browser, assert) {
    await call("POST", "/v1/projects", { metadata: { name: "checkout" } });
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/na-prod/hand-over`);
    await page.getByRole("combobox", { name: "Team" }).fill("checkout");
    await page.getByLabel("Size").fill("22");
    await page.getByRole("button", { name: "Carve and hand over" }).click();
    const text = await page.getByLabel("command for the team", { exact: true }).textContent();
    const words = text.split(" ");
    assert.equal(words.shift(), "ipamctl");
    const { stdout } = await promisify(execFile)(ipamctl, words, { env: { ...process.env, CARVE_SERVER: server } });
    assert.match(stdout, /Bound/);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a team that is unknown is pointed out"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/na-prod/hand-over`);
    await page.getByRole("combobox", { name: "Team" }).fill("chekout");
    await page.getByText("You can see no project chekout.").waitFor();
    await page.getByRole("combobox", { name: "Team" }).fill("shop");
    await page.getByText("You can see no project").waitFor({ state: "detached" });
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "typed text survives Back and the end of the session"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    const name = page.getByRole("textbox", { name: "Name" });
    await at(claimForm);
    await name.fill("half-filled");
    await page.getByRole("textbox", { name: "Labels" }).fill("team=web");
    await page.getByRole("link", { name: "Quotas" }).click();
    await page.getByRole("heading", { name: "Quotas" }).waitFor();
    await page.goBack();
    await page.getByText("The form has your earlier input.").waitFor();
    assert.equal(await name.inputValue(), "half-filled");
    await page.route("**/v1/**", (route) => route.fulfill({ status: 401, contentType: "application/problem+json", body: JSON.stringify({ title: "No", status: 401, detail: "No.", code: "unauthenticated" }) }));
    await page.getByLabel("Size").fill("29");
    await page.getByRole("heading", { name: "Sign in to Carve" }).waitFor();
    await page.unroute("**/v1/**");
    await page.getByRole("button", { name: /without signing in/ }).click();
    await page.getByText("The form has your earlier input.").waitFor();
    assert.deepEqual([await name.inputValue(), await page.getByLabel("Size").inputValue(), await page.getByRole("textbox", { name: "Labels" }).inputValue()], ["half-filled", "29", "team=web"]);
    await page.getByRole("button", { name: "Clear it" }).click();
    assert.equal(await name.inputValue(), "");
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "free space leads to a block that the pool hands out"(browser, assert) {
    await call("POST", `/v1/projects/${project}/pools`, { metadata: { name: "bounded" }, spec: { cidr: "192.168.0.0/16", allocation: { minPrefixLength: 20, maxPrefixLength: 26 } } });
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/bounded?tab=free`);
    await page.getByText("This pool allows only /20 to /26").waitFor();
    await page.getByRole("link", { name: "192.168.0.0/16" }).click();
    await page.getByText("Would get").waitFor();
    await page.getByLabel("Exact block or address").fill("192.168.0.0/16");
    await page.getByRole("button", { name: "Use 192.168.0.0/20" }).click();
    await page.getByText("Would get").waitFor();
    await page.context().close();
    await call("DELETE", `/v1/projects/${project}/pools/bounded`);
    assert.deepEqual(wrong, []);
  },

  async "without a default class the form begins with what there is"(browser, assert) {
    await call("POST", "/v1/projects", { metadata: { name: "classy" } });
    const { page, at, wrong } = await open(browser);
    await at("/projects/classy/new-claim");
    await page.getByText("Choose the source of the block.").waitFor();
    assert.equal(await page.getByLabel("From").inputValue(), "pool");
    await call("POST", "/v1/projects/classy/classes", { metadata: { name: "only" }, spec: { ipFamily: "IPv4" } });
    await page.reload();
    await page.waitForFunction(() => [...document.querySelectorAll("select")].some((s) => s.value === "only"));
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "dialogs begin with the harmless button, and a quota can be made for one pool and deleted"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-dns`);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.locator("dialog button:focus").getByText("Keep it").waitFor();
    await at(`/projects/${project}/quotas`);
    await page.getByRole("button", { name: "New quota" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("dns");
    await page.getByLabel("Counts").selectOption("pool");
    await page.getByRole("textbox", { name: "Pool", exact: true }).fill("eu-dns");
    await page.getByRole("textbox", { name: "Claims" }).fill("4");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row").filter({ hasText: "pool eu-dns" }).waitFor();
    await page.getByRole("button", { name: "Change dns" }).click();
    await page.getByRole("button", { name: "Delete…" }).click();
    await page.getByRole("button", { name: "Delete the quota" }).click();
    await page.getByRole("row").filter({ hasText: "pool eu-dns" }).waitFor({ state: "detached" });
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "dialogs for a quota and a rule keep their contents at the end of the session, and name the wrong field"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    for (const [path, button] of [["quotas", "New quota"], ["alerts", "New rule"]]) {
      await at(`/projects/${project}/${path}`);
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("half-filled");
      await page.reload();
      await page.getByRole("button", { name: button }).click();
      await page.getByText("The form has your earlier input.").waitFor();
      assert.equal(await page.getByRole("textbox", { name: "Name" }).inputValue(), "half-filled");
    }
    await page.getByLabel("Percent used, at least").fill("eighty");
    await says(page, "Percent used, at least", "Enter a whole number from 1 to 100.");
    assert.ok(await page.getByRole("button", { name: "Save" }).isDisabled());
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "New rule" }).click();
    assert.equal(await page.getByRole("textbox", { name: "Name" }).inputValue(), "");
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
