// A project with many pools: it is not loaded as a whole, scrolls without hanging, and answers at once.
import { open } from "./harness.mjs";
import { many } from "./seed.mjs";

const paint = (page) => page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);

export const large = {
  async "the tree loads level by level and scrolls smoothly"(browser, assert, pools) {
    const { page, at, wrong } = await open(browser);
    let asked = 0;
    page.on("request", (request) => { if (request.url().includes("/pools?")) asked++; });
    const started = Date.now();
    await at(`/projects/${many}/pools`);
    await page.getByRole("row", { name: /p-000000/ }).waitFor();
    const shown = Date.now() - started;
    assert.ok(asked <= 5, `${asked} pages of pools were asked for`);
    const drawn = await page.locator(".tree-row").count();
    assert.ok(drawn < 80, `${drawn} rows are drawn`);
    const frames = await page.evaluate(scroll);
    frames.sort((a, b) => a - b);
    const [half, worst] = [frames[frames.length >> 1], frames[Math.floor(frames.length * 0.95)]].map(Math.round);
    assert.ok(half < 50, `half of the frames took longer than ${half} ms`);
    console.log(`  ${pools} pools: first paint ${Math.round(await paint(page))} ms, tree after ${shown} ms, a frame in ${half} ms, one in twenty in more than ${worst} ms`);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },

  async "clicks are answered within 100 ms"(browser, assert) {
    const { page, at, wrong } = await open(browser);
    await at(`/projects/${many}/pools`);
    await page.getByRole("row", { name: /p-000000/ }).waitFor();
    const took = [];
    const root = page.getByRole("row", { name: /root/ });
    for (let i = 0; i < 10; i++) {
      took.push(await page.evaluate(toggle));
      assert.equal(await root.getAttribute("aria-expanded"), String(i % 2 === 1));
    }
    took.sort((a, b) => a - b);
    console.log(`  opening and closing the largest level: ${took.map((ms) => Math.round(ms)).join(", ")} ms`);
    assert.ok(took[5] < 100, `half of the clicks took longer than ${took[5]} ms`);
    await page.context().close();
    assert.deepEqual(wrong, []);
  },
};

/** Scrolls the tree for two seconds and answers how long each frame took. */
function scroll() {
  return new Promise((done) => {
    const box = document.querySelector(".virtual");
    const frames = [];
    const end = performance.now() + 2000;
    let last = performance.now();
    const frame = (now) => {
      frames.push(now - last);
      last = now;
      box.scrollTop += 120;
      if (now < end) requestAnimationFrame(frame);
      else done(frames);
    };
    requestAnimationFrame(frame);
  });
}

/** Clicks what opens and closes the root, and answers how long it took until the picture was there. */
function toggle() {
  return new Promise((done) => {
    const began = performance.now();
    document.querySelector(".twist").click();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  });
}
