// Claims a block and releases it, as fast as the clients can: nine times of ten in the client's own pool, else in a shared one.
// Used for both address families.
import exec from 'k6/execution';
import { check } from 'k6';
import { Holdings } from './blocks.js';
import { insist, send } from './http.js';
import { noteWrong, Ratio, took } from './measure.js';
import { createClaim, deleteClaim } from './operations.js';
import { holds, makePool, makeProject, takeAway } from './world.js';

// Blocks that a client holds before it releases them.
const atOnce = 4;

/** pools makes a pool for each client (cidrOf 1 and up) and a shared one (0). */
export function pools(scenario, clients, cidrOf) {
  const project = makeProject(scenario);
  const made = [];
  for (let i = 0; i <= clients; i++) {
    made.push({ name: makePool(project, i === 0 ? 'shared' : `own-${i}`, { cidr: cidrOf(i) }), cidr: cidrOf(i) });
  }
  return { project, pools: made };
}

/**
 * claimer repeats one iteration: claim a few blocks, check them while all are held, release them. Only one client draws on its
 * own pool, so the check there is complete; hot-pool checks a shared pool. lengths are the claimed prefix lengths.
 */
export function claimer(lengths) {
  const releaseOverClaim = new Ratio('release_over_claim');
  const holdings = {};
  let n = 0;

  function claim(project, pool) {
    n++;
    const name = `c-${exec.vu.idInTest}-${n}`;
    const claimed = send(createClaim(project, pool.name, name, lengths[n % lengths.length]));
    if (!claimed.ok) {
      return null;
    }
    took('claim', claimed.ms);
    releaseOverClaim.baseline(claimed.ms);
    const { allocatedCIDR, phase } = claimed.body.status;
    check(phase, { 'a claim that is answered is bound': (p) => p === 'Bound' });
    holdings[pool.name] = holdings[pool.name] || new Holdings(pool.cidr, lengths);
    noteWrong(holdings[pool.name].take(allocatedCIDR, name));
    return { name, cidr: allocatedCIDR };
  }

  function release(project, pool, held) {
    holdings[pool.name].drop(held.cidr);
    const released = insist(deleteClaim(project, held.name));
    if (released.ok) {
      took('release', released.ms);
      releaseOverClaim.compare(released.ms);
    }
  }

  return ({ project, pools: all }) => {
    // Clients do not all reach the same iteration together.
    const shared = (exec.vu.idInTest + exec.vu.iterationInScenario) % 10 === 9;
    const pool = shared ? all[0] : all[1 + ((exec.vu.idInTest - 1) % (all.length - 1))];
    const held = [];
    for (let i = 0; i < atOnce; i++) {
      held.push(claim(project, pool));
    }
    held.filter((h) => h !== null).forEach((h) => release(project, pool, h));
  };
}

/** after checks that every pool is empty again, and removes the pools. */
export async function after({ project, pools: all }) {
  for (const pool of all) {
    holds(project, pool.name, 0);
  }
  await takeAway([project]);
}
