// One pool from empty to 99.9 % and to the last address. The clients share one runtime, which compares every block with all
// held ones. During the last tenth, the same clients claim in an empty pool: the full pool must not cost more. "Exhausted" must
// be true, and must not come too early.
import { check } from 'k6';
import { Holdings } from './lib/blocks.js';
import { crew } from './lib/crew.js';
import { insistAsync, sendAsync } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { noteWrong, operations, Ratio, took } from './lib/measure.js';
import { createClaim, deleteClaim, refused } from './lib/operations.js';
import { atMost, once, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { holds, makePool, makeProject, takeAway } from './lib/world.js';

const clients = knobs.count('CLIENTS', 32);
const length = knobs.count('POOL_LENGTH', { full: 16, short: 20 });
const cidr = `10.0.0.0/${length}`;
const size = 2 ** (32 - length);
const nearlyAll = Math.floor(size * 0.999);
// The last tenth of a small pool has too few claims for a 99th percentile.
const percentile = size >= 32768 ? 99 : 95;
operations('claim');
const fullOverEmpty = new Ratio('full_over_empty', { percentile: percentile / 100, window: 1000 });

export const options = promise({ fill: once(3600000) }, { full_over_empty: atMost(1.3, percentile) });

export function setup() {
  const project = makeProject('fill');
  makePool(project, 'empty', { cidr: '172.16.0.0/12' });
  return { project, pool: makePool(project, 'pool', { cidr }) };
}

async function compare(project, name, ms) {
  const reference = await sendAsync(createClaim(project, 'empty', `e-${name}`, 32));
  if (reference.ok) {
    fullOverEmpty.baseline(reference.ms);
    fullOverEmpty.compare(ms);
    await insistAsync(deleteClaim(project, `e-${name}`));
  }
}

export default async function fill({ project, pool }) {
  const holdings = new Holdings(cidr, [32]);
  let next = 0;

  async function claimUpTo(limit) {
    await crew(clients, async () => {
      while (next < limit) {
        const name = `c-${next++}`;
        const claimed = await insistAsync(createClaim(project, pool, name, 32));
        if (!claimed.ok) {
          continue;
        }
        noteWrong(holdings.take(claimed.body.status.allocatedCIDR, name));
        took('claim', claimed.ms);
        if (holdings.size > size * 0.9 && limit < size) {
          await compare(project, name, claimed.ms);
        }
      }
    });
  }

  await claimUpTo(nearlyAll);
  await claimUpTo(size);
  check(holdings, { 'every address of the pool was handed out once': (h) => h.size === size });
  await crew(clients, async (i) => {
    await sendAsync(refused(createClaim(project, pool, `over-${i}`, 32), 409, 'pool_exhausted'));
  });
}

export async function teardown({ project, pool }) {
  holds(project, pool, size);
  holds(project, 'empty', 0);
  await takeAway([project]);
}

export const handleSummary = summary('fill');
