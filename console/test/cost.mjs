// The costs of a user's action: the time of the page's own thread, without the time of the server and of other programs.

/** Must run before the page's own scripts. It records long tasks, and how long inputs wait for the next frame. */
export const watch = (page) => page.addInitScript(() => {
  globalThis.seen = { inputs: [], tasks: [] };
  const note = (into) => new PerformanceObserver((list) => into.push(...list.getEntries().map((e) => e.duration)));
  note(globalThis.seen.inputs).observe({ type: "event", durationThreshold: 16 });
  note(globalThis.seen.tasks).observe({ type: "longtask" });
});

/** Returns a function that runs an action and records its costs. */
export async function costs(page) {
  const debug = await page.context().newCDPSession(page);
  await debug.send("Performance.enable", { timeDomain: "threadTicks" });
  const thread = async () => {
    const { metrics } = await debug.send("Performance.getMetrics");
    return 1000 * metrics.find(({ name }) => name === "TaskDuration").value;
  };
  return async (name, act) => {
    await settled(page);
    await page.evaluate(() => {
      globalThis.seen.inputs.length = globalThis.seen.tasks.length = 0;
      performance.clearResourceTimings();
    });
    const [before, began] = [await thread(), performance.now()];
    const more = await act();
    const took = performance.now() - began;
    await settled(page);
    const used = (await thread()) - before;
    const seen = await page.evaluate(() => ({
      ...globalThis.seen,
      server: performance.getEntriesByType("resource").filter((r) => !r.name.includes("/changes")).map((r) => r.responseEnd - r.requestStart),
    }));
    const most = (of) => Math.round(Math.max(0, ...of));
    const own = { thread: Math.round(used), input: most(seen.inputs), task: most(seen.tasks) };
    return { name, ...own, server: most(seen.server), requests: seen.server.length, took: Math.round(took), ...more };
  };
}

/** Waits until the page draws nothing more. */
const settled = (page) => page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() => setTimeout(done)), 250)));

export function tell(rows) {
  console.log("    what                            thread ms  input to picture ms  longest task ms  server ms (requests)  until shown ms");
  for (const { name, thread, input, task, server, requests, took } of rows) {
    const cells = [[thread, 9], [input, 19], [task, 15], [`${server} (${requests})`, 20], [took, 14]];
    console.log(`    ${name.padEnd(30)}  ${cells.map(([text, wide]) => String(text).padStart(wide)).join("  ")}`);
  }
}
