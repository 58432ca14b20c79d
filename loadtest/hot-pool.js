// LOAD_CLIENTS clients claim blocks of three lengths from one small pool and release them. They share one runtime, which
// compares every new block with all held ones.
import { check } from 'k6';
import { Holdings } from './lib/blocks.js';
import { crew } from './lib/crew.js';
import { insistAsync, sendAsync } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { noteWrong, operations, Ratio, took } from './lib/measure.js';
import { createClaim, deleteClaim } from './lib/operations.js';
import { atMost, once, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { holds, makePool, makeProject, takeAway } from './lib/world.js';

const clients = knobs.count('CLIENTS', 64);
const length = knobs.duration('DURATION', { full: '60s', short: '6s' });
const cidr = '10.0.0.0/21';
const lengths = [32, 30, 28];
const each = 4; // blocks that a client holds: 64 clients hold at most 1,856 of 2,048 addresses
operations('claim', 'release');
const releaseOverClaim = new Ratio('release_over_claim');

export const options = promise({ hot: once(length + 60000) }, { release_over_claim: atMost(1) });

export function setup() {
  const project = makeProject('hot-pool');
  return { project, pool: makePool(project, 'hot', { cidr }) };
}

export default async function hotPool({ project, pool }) {
  const holdings = new Holdings(cidr, lengths);
  const end = Date.now() + length;
  await crew(clients, async (client) => {
    for (let n = 0; Date.now() < end; n += each) {
      const mine = [];
      for (let i = 0; i < each; i++) {
        const name = `c-${client}-${n + i}`;
        const claimed = await sendAsync(createClaim(project, pool, name, lengths[(client + i) % lengths.length]));
        if (claimed.ok) {
          took('claim', claimed.ms);
          releaseOverClaim.baseline(claimed.ms);
          const { allocatedCIDR } = claimed.body.status;
          noteWrong(holdings.take(allocatedCIDR, name));
          mine.push([name, allocatedCIDR]);
        }
      }
      for (const [name, block] of mine) {
        holdings.drop(block);
        const released = await insistAsync(deleteClaim(project, name));
        if (released.ok) {
          took('release', released.ms);
          releaseOverClaim.compare(released.ms);
        }
      }
    }
  });
  check(holdings, { 'every block was given back': (h) => h.size === 0 });
}

export async function teardown({ project, pool }) {
  holds(project, pool, 0);
  await takeAway([project]);
}

export const handleSummary = summary('hot-pool');
