// Batches of LOAD_BATCH claims: all or nothing, no block twice, and a claim in a batch costs less than a single claim. The
// claims stay until the end.
import exec from 'k6/execution';
import { check } from 'k6';
import { Holdings } from './lib/blocks.js';
import { insist, must, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { noteWrong, operations, Ratio, took } from './lib/measure.js';
import { createClaim, createClaimBatch, deleteClaim, getClaim, getPool, refused } from './lib/operations.js';
import { atMost, closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { makePool, makeProject, takeAway } from './lib/world.js';

const size = knobs.count('BATCH', { full: 1000, short: 1000 });
const cidr = '10.0.0.0/8';
operations('batch', 'single');
const perClaimOverSingle = new Ratio('per_claim_over_single', { least: 10 });

export const options = promise(
  { batches: closed(knobs.count('CLIENTS', 4), knobs.duration('DURATION', { full: '60s', short: '8s' })) },
  { per_claim_over_single: atMost(1) },
);

export function setup() {
  const project = makeProject('batch');
  makePool(project, 'pool', { cidr });
  return { project };
}

const holdings = new Holdings(cidr, [32]);

function wishes(stem) {
  return Array.from({ length: size }, (_, i) => [`${stem}-${i}`, 'pool', 32]);
}

function singles(project, stem) {
  for (let i = 0; i < 10; i++) {
    const claimed = send(createClaim(project, 'pool', `${stem}-${i}`, 32));
    if (claimed.ok) {
      took('single', claimed.ms);
      perClaimOverSingle.baseline(claimed.ms);
      insist(deleteClaim(project, `${stem}-${i}`));
    }
  }
}

// The last claim of this batch does not fit: the problem names it, and the first claim was not made.
function allOrNothing(project, stem) {
  const impossible = [...wishes(stem).slice(1), [`${stem}-never`, 'pool', 4]];
  const denied = send(refused(createClaimBatch(project, impossible), 422, 'never_satisfiable'));
  if (denied.ok) {
    check(denied.body, { 'a batch that is refused names the claim': (b) => b.errors[0].pointer.startsWith(`/claims/${size - 1}`) });
    send(refused(getClaim(project, impossible[0][0]), 404, 'not_found'));
  }
}

export default function batches({ project }) {
  const stem = `${exec.vu.idInTest}-${exec.vu.iterationInScenario}`;
  singles(project, `one-${stem}`);
  const made = send(createClaimBatch(project, wishes(`b-${stem}`)));
  if (made.ok) {
    took('batch', made.ms);
    perClaimOverSingle.compare(made.ms / size);
    made.body.claims.forEach((c) => noteWrong(holdings.take(c.status.allocatedCIDR, c.metadata.name)));
    check(made.body.claims, {
      'a batch is answered in the order of the request': (all) => all.length === size
        && all.every((c, i) => c.metadata.name === `b-${stem}-${i}`),
    });
  }
  if (exec.vu.iterationInScenario % 5 === 0) {
    allOrNothing(project, `no-${stem}`);
  }
}

export async function teardown({ project }) {
  const { capacity } = must(insist(getPool(project, 'pool'))).status;
  check(capacity, { 'no part of a batch is held': (c) => BigInt(c.allocated) > 0n && BigInt(c.allocated) % BigInt(size) === 0n });
  await takeAway([project]);
}

export const handleSummary = summary('batch', { batch: size });
