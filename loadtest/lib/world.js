// Set-up and tear-down of a scenario: its own projects with their own pools.
import { check } from 'k6';
import { each } from './crew.js';
import { insist, insistAsync, must } from './http.js';
import * as knobs from './knobs.js';
import {
  createClaimBatch, createPool, createProject, deleteClaim, deletePool, deleteProject, getPool, listClaims, listPools,
} from './operations.js';

const prefix = knobs.text('PREFIX', 'load');
const keep = knobs.flag('KEEP');
const hands = 16; // concurrent requests during set-up and tear-down

/** unique returns a part of a name that no other run has. */
export function unique() {
  return `${Date.now().toString(36)}${Math.floor(Math.random() * 46656).toString(36).padStart(3, '0')}`;
}

/** makeProject makes a project and returns its name. */
export function makeProject(scenario) {
  const name = `${prefix}-${scenario}-${unique()}`;
  must(insist(createProject(name)));
  return name;
}

/** makeProjects makes many concurrently, each with the same pools, given as [name, spec]. */
export async function makeProjects(scenario, n, pools) {
  const stem = `${prefix}-${scenario}-${unique()}`;
  const names = Array.from({ length: n }, (_, i) => `${stem}-${i}`);
  await each(names, hands, async (name) => {
    must(await insistAsync(createProject(name)));
    for (const [pool, spec] of pools) {
      must(await insistAsync(createPool(name, pool, spec)));
    }
  });
  return names;
}

/** makePool makes a pool and returns its name. */
export function makePool(project, name, spec) {
  must(insist(createPool(project, name, spec)));
  return name;
}

/** claimMany claims n blocks of a length, named <stem>-<i>, and returns them in the order of the responses. */
export function claimMany(project, pool, stem, n, length) {
  const claims = [];
  for (let from = 0; from < n; from += 1000) {
    const wishes = [];
    for (let i = from; i < Math.min(from + 1000, n); i++) {
      wishes.push([`${stem}-${i}`, pool, length]);
    }
    const body = must(insist(createClaimBatch(project, wishes)));
    claims.push(...body.claims.map((c) => ({ name: c.metadata.name, cidr: c.status.allocatedCIDR })));
  }
  return claims;
}

/** holds checks the number of allocated addresses of a pool against the clients' count, and that the figures add up. */
export function holds(project, pool, addresses) {
  const { capacity } = must(insist(getPool(project, pool))).status;
  const sum = BigInt(capacity.allocated) + BigInt(capacity.reserved) + BigInt(capacity.coolingDown) + BigInt(capacity.available);
  const ok = capacity.allocated === String(addresses) && sum === BigInt(capacity.total);
  if (!ok) {
    console.error(`pool ${project}/${pool} should hold ${addresses} addresses: ${JSON.stringify(capacity)}`);
  }
  check(capacity, { 'a pool holds what its clients hold, to the address': () => ok });
}

async function removeClaims(project) {
  for (;;) {
    const { items } = must(await insistAsync(listClaims(project, '?limit=500')));
    if (items.length === 0) {
      return;
    }
    await each(items, hands, async (c) => must(await insistAsync(deleteClaim(project, c.metadata.name))));
  }
}

async function removePools(project) {
  let cursor = '';
  const pools = [];
  do {
    const page = must(await insistAsync(listPools(project, `?limit=500${cursor}`)));
    pools.push(...page.items.map((p) => ({ name: p.metadata.name, length: Number(p.status.allocatedCIDR.split('/')[1]) })));
    cursor = page.nextCursor ? `&cursor=${page.nextCursor}` : '';
  } while (cursor);
  // A child is longer than its parent, and is deleted before it.
  pools.sort((a, b) => b.length - a.length);
  for (const pool of pools) {
    must(await insistAsync(deletePool(project, pool.name)));
  }
}

/** takeAway removes projects with all their content, unless they must be kept. */
export async function takeAway(projects) {
  if (keep) {
    return;
  }
  await each(projects, 4, async (project) => {
    await removeClaims(project);
    await removePools(project);
    must(await insistAsync(deleteProject(project)));
  });
}
