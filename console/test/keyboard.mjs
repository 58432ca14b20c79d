// All actions by keyboard alone.
import { open } from "./harness.mjs";
import { project } from "./seed.mjs";

/** Waits until the text of the focused element matches. */
const focused = (page, pattern) => page.waitForFunction((text) => new RegExp(text).test(document.activeElement.textContent), pattern);
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };

export const keyboard = {
  async "the search box opens with / and its results with arrow keys"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}`);
    await page.getByRole("heading", { name: project }).waitFor();
    await press(page, "/");
    await page.keyboard.type("eu-prod-k8s");
    await page.getByRole("option").filter({ hasText: "eu-prod-k8s" }).first().waitFor();
    await press(page, "Enter");
    await page.getByRole("heading", { name: "eu-prod-k8s" }).waitFor();
    await page.locator("h1:focus").waitFor(); // the heading of the new page has the focus
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the tree opens, closes and leads to a pool"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools`);
    await page.getByRole("row", { name: /corp-v6/ }).waitFor();
    await page.locator('.tree-row[tabindex="0"]').focus();
    await press(page, "ArrowDown");
    await focused(page, "^▸eu10");
    await press(page, "ArrowRight");
    await focused(page, "^▾eu10");
    await press(page, "ArrowRight");
    await focused(page, "^▸eu-prod");
    await press(page, "ArrowLeft");
    await focused(page, "^▾eu10");
    await press(page, "ArrowLeft");
    await page.locator('[role=row][aria-level="2"][aria-expanded=false]:focus').waitFor();
    await press(page, "Enter");
    await page.getByRole("heading", { name: "eu", exact: true }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "the map: arrows move, Enter goes in, Escape goes out"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-prod-apps`);
    await page.locator('[role=gridcell][tabindex="0"]').first().focus();
    await press(page, "ArrowRight", "ArrowDown");
    await page.locator('[role=gridcell][aria-label^="10.1.1.16/28"]:focus').waitFor();
    await press(page, "Enter");
    await page.locator('[role=gridcell][aria-label^="10.1.1.16:"]:focus').waitFor(); // the focus follows the view inwards
    await press(page, "ArrowRight");
    await page.locator('[role=gridcell][aria-label^="10.1.1.17:"]:focus').waitFor();
    await press(page, "Escape");
    await page.locator('[role=gridcell][aria-label^="10.1.1.16/28"]:focus').waitFor(); // the focus returns to where it came from
    await page.locator('[role=gridcell][aria-label^="10.1.1.16/28"]').click();
    await page.locator('[role=gridcell][aria-label^="10.1.1.16:"]:focus').waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "tabs, dialogs and the way past the navigation"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${project}/pools/eu-dns`);
    await page.getByRole("tab", { name: "Map" }).focus();
    await press(page, "ArrowRight");
    await page.getByRole("tab", { name: "Free space", selected: true }).waitFor();
    await page.getByRole("button", { name: "Delete" }).focus();
    await press(page, "Enter");
    await page.getByRole("dialog").waitFor();
    await press(page, "Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focused(page, "^Delete$"); // the focus returns to where it was
    await page.reload();
    await page.getByRole("heading", { name: "eu-dns" }).waitFor();
    await press(page, "Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to content");
    await press(page, "Enter");
    await page.locator("#main:focus").waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
