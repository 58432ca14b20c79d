// Charts of utilisation and runway. The server records them once an hour, so the test itself responds, with the records of a pool with a past.
import { call, open } from "./harness.mjs";
import { check, everything } from "./looks.mjs";
import { project } from "./seed.mjs";

const hour = 3_600_000;

/** A pool that fills by two percent a day, has a night without records, and was fuller for a while. */
export function past(now = Date.now()) {
  const points = [];
  for (let hours = 30 * 24; hours >= 0; hours -= 4) {
    if (hours > 400 && hours < 470) continue;
    const usedPercent = Math.round(100 * (20 + (30 * 24 - hours) / 12 + 3 * Math.sin(hours / 9))) / 100;
    const highestPercent = Math.min(100, usedPercent + (hours % 24 === 0 ? 6 : 1));
    points.push({ at: new Date(now - hours * hour).toISOString(), used: String(Math.round(usedPercent * 40.96)), usedPercent, highestPercent });
  }
  return { points, runway: { runsOutAt: new Date(now + 11 * 24 * hour).toISOString(), percentPerDay: 2.01, over: "P14D" } };
}

export const withPast = (page) => page.route("**/utilization?*", (route) => route.fulfill({ json: past() }));

export const charts = {
  async "a pool's past and runway are shown as a picture, in words and as a table"(browser, assert) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, at, wrong } = await open(browser, { colorScheme });
      await withPast(page);
      await at(`/projects/${project}/pools/eu-prod-apps`);
      await page.getByRole("tab", { name: "Over time" }).click();
      await page.getByRole("img", { name: "How much of eu-prod-apps was used" }).waitFor();
      await page.getByText(/^Full on .* at the rate of the last 14 days: 2 % more each day/).waitFor();
      assert.equal(await page.locator(".chart polyline.used").count(), 2, "nothing is drawn where nothing was recorded");
      await page.getByText("The same as a table").click();
      await page.getByRole("row").nth(past().points.length).waitFor();
      await page.getByLabel("Time", { exact: true }).selectOption("7");
      await page.waitForURL(/days=7/);
      const found = [];
      await check(page, "chart", found, everything);
      await page.setViewportSize({ width: 375, height: 740 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it fits a phone");
      await page.context().close();
      assert.deepEqual([...found, ...wrong], []);
    }
  },

  async "the overview shows the past as a small chart"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await withPast(page);
    await at(`/projects/${project}`);
    const line = page.getByRole("region", { name: "Fullest pools" }).getByRole("listitem").filter({ hasText: "eu-dns" });
    await line.getByRole("img", { name: /^eu-dns: from .* to .* in 30 days/ }).waitFor();
    await line.getByText(/full in 1[01] days/).click();
    await page.getByRole("tab", { name: "Over time", selected: true }).waitFor();
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "a pool without a past shows that, from the server's response"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await call("POST", `/v1/projects/${project}/pools`, { metadata: { name: "fresh" }, spec: { cidr: "192.168.0.0/24" } });
    await at(`/projects/${project}/pools/fresh?tab=history`);
    await page.getByText("Only the current value is recorded so far").waitFor();
    await call("DELETE", `/v1/projects/${project}/pools/fresh`);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};
