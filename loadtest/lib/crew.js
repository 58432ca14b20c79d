// Clients that run in one JavaScript runtime. k6's own virtual users share no memory, so no check can include all of them.
// These clients share memory, and each has its own request under way and, once warm, its own connection.

/** crew runs n clients until each has finished: work(i) is the life of client i. */
export async function crew(n, work) {
  await Promise.all(Array.from({ length: n }, (_, i) => work(i)));
}

/** each runs work for every item, n at a time. */
export async function each(items, n, work) {
  let next = 0;
  await crew(Math.min(n, items.length), async () => {
    while (next < items.length) {
      await work(items[next++]);
    }
  });
}
