// The cost of a refusal: claims on a full pool, and on a pool with half its addresses free but no two together. The test compares
// each with a successful claim that the same client sent just before.
import exec from 'k6/execution';
import { check } from 'k6';
import { insist, must, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { operations, Ratio, took } from './lib/measure.js';
import { createClaim, deleteClaim, refused } from './lib/operations.js';
import { atMost, closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { claimMany, holds, makePool, makeProject, takeAway } from './lib/world.js';

const clients = knobs.count('CLIENTS', 16);
const size = 256;
operations('deny', 'claim');
const denyOverClaim = new Ratio('deny_over_claim');

export const options = promise(
  { deny: closed(clients, knobs.duration('DURATION', { full: '60s', short: '6s' })) },
  { deny_over_claim: atMost(1) },
);

export function setup() {
  const project = makeProject('pool-exhaustion');
  makePool(project, 'full', { cidr: '10.0.0.0/24' });
  makePool(project, 'split', { cidr: '10.0.1.0/24' });
  makePool(project, 'empty', { cidr: '10.1.0.0/16' });
  claimMany(project, 'full', 'full', size, 32);
  for (const claim of claimMany(project, 'split', 'split', size, 32)) {
    if (Number(claim.cidr.split(/[./]/)[3]) % 2 === 1) {
      must(insist(deleteClaim(project, claim.name)));
    }
  }
  return { project };
}

function deny(project, pool, length, available) {
  const name = `no-${exec.vu.idInTest}-${exec.vu.iterationInScenario}`;
  const denied = send(refused(createClaim(project, pool, name, length), 409, 'pool_exhausted'));
  if (!denied.ok) {
    return;
  }
  took('deny', denied.ms);
  denyOverClaim.compare(denied.ms);
  check(denied.body, {
    'a refusal says what was wanted and what is free': (b) => b.wantedPrefixLength === length && b.availableAddresses === available
      && b.poolsTried.length === 1 && b.poolsTried[0] === `${project}/${pool}`,
  });
}

export default function exhaustion({ project }) {
  const name = `c-${exec.vu.idInTest}-${exec.vu.iterationInScenario}`;
  const claimed = send(createClaim(project, 'empty', name, 32));
  if (claimed.ok) {
    took('claim', claimed.ms);
    denyOverClaim.baseline(claimed.ms);
    insist(deleteClaim(project, name));
  }
  if (exec.vu.iterationInScenario % 4 === 0) {
    deny(project, 'split', 31, String(size / 2));
  } else {
    deny(project, 'full', 32, '0');
  }
}

export async function teardown({ project }) {
  holds(project, 'full', size);
  holds(project, 'split', size / 2);
  holds(project, 'empty', 0);
  await takeAway([project]);
}

export const handleSummary = summary('pool-exhaustion');
