// The cost of a class: each of LOAD_CLIENTS clients claims by class and by pool in turn, from one pool of its own, so that the
// two only differ in this. Beside them, one client fills a class of three pools: it uses each pool when the one before is full.
import exec from 'k6/execution';
import { check } from 'k6';
import { Holdings } from './lib/blocks.js';
import { insist, must, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { noteWrong, operations, Pairs, took } from './lib/measure.js';
import { createClaim, createClaimByClass, createClass, deleteClaim, refused } from './lib/operations.js';
import { atMost, closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { holds, makePool, makeProject, takeAway } from './lib/world.js';

const clients = knobs.count('CLIENTS', 32);
const length = knobs.duration('DURATION', { full: '60s', short: '6s' });
const pairs = 2; // blocks of each kind that a client holds before it releases them
const own = clients + 1; // pools: k6 numbers the clients of all scenarios together, and one client uses the class of three
const three = ['three-1', 'three-2', 'three-3']; // in the order of use
const room = 4; // addresses in each
const cidrOf = (client) => `10.${client >> 8}.${client & 255}.0/24`;
operations('by_class', 'by_pool', 'release', 'fall', 'deny');
const classOverPool = new Pairs('class_over_pool');

export const options = promise(
  { claims: closed(clients, length), full: { ...closed(1, length), exec: 'fallThrough' } },
  // 90 % of the rate, expressed as the time of one claim.
  { class_over_pool: atMost(1 / 0.9, 50) },
);

function makeClass(project, name) {
  must(insist(createClass(project, name, { ipFamily: 'IPv4' })));
  return name;
}

export function setup() {
  const project = makeProject('class-claim');
  for (let client = 1; client <= own; client++) {
    makePool(project, `own-${client}`, { cidr: cidrOf(client), classNames: [makeClass(project, `class-${client}`)] });
  }
  makeClass(project, 'three');
  three.forEach((pool, i) => makePool(project, pool, { cidr: `172.16.0.${i * room}/30`, classNames: ['three'] }));
  return { project };
}

/** byClass sends a claim by class, and checks that the response names the class. */
function byClass(project, name, by) {
  const claimed = send(createClaimByClass(project, by, name, 32));
  if (claimed.ok) {
    check(claimed.body.status, {
      'an answer names the class that served': (s) => s.className === by && s.classProject === project && s.phase === 'Bound',
    });
  }
  return claimed;
}

const holdings = {}; // by client: no other client draws on its pool, so the check is complete
let n = 0;

export default function inTurn({ project }) {
  const client = exec.vu.idInTest;
  holdings[client] = holdings[client] || new Holdings(cidrOf(client), [32]);
  const mine = [];
  const keep = (name, claimed) => {
    const { allocatedCIDR } = claimed.body.status;
    noteWrong(holdings[client].take(allocatedCIDR, name));
    mine.push([name, allocatedCIDR]);
  };
  const ways = [
    ['by_class', (name) => byClass(project, name, `class-${client}`)],
    ['by_pool', (name) => send(createClaim(project, `own-${client}`, name, 32))],
  ];
  for (let i = 0; i < pairs; i++) {
    const ms = {};
    // The order alternates, because the second request of a pair may differ from the first.
    for (const first of [0, 1]) {
      const [way, claim] = ways[(first + exec.vu.iterationInScenario) % 2];
      n++;
      const name = `c-${client}-${n}`;
      const claimed = claim(name);
      if (claimed.ok) {
        took(way, claimed.ms);
        ms[way] = claimed.ms;
        keep(name, claimed);
      }
    }
    if (ms.by_class && ms.by_pool) {
      classOverPool.add(ms.by_class, ms.by_pool);
    }
  }
  for (const [name, block] of mine) {
    holdings[client].drop(block);
    const released = insist(deleteClaim(project, name));
    if (released.ok) {
      took('release', released.ms);
    }
  }
}

/** fallThrough fills three pools, one after the other, gets a refusal from all of them together, and releases everything. */
export function fallThrough({ project }) {
  const stem = `f-${exec.vu.iterationInScenario}`;
  const held = [];
  for (let i = 0; i < three.length * room; i++) {
    const claimed = byClass(project, `${stem}-${i}`, 'three');
    if (claimed.ok) {
      took('fall', claimed.ms);
      held.push(`${stem}-${i}`);
      check(claimed.body.status.poolRef, { 'when a pool is full the next one serves': (p) => p.name === three[Math.floor(i / room)] });
    }
  }
  const denied = send(refused(createClaimByClass(project, 'three', `${stem}-no`, 32), 409, 'pool_exhausted'));
  if (denied.ok) {
    took('deny', denied.ms);
    check(denied.body, {
      'a refusal by a class names it and every pool that was tried': (b) => b.class === `${project}/three`
        && b.poolsTried.join() === three.map((pool) => `${project}/${pool}`).join(),
    });
  }
  held.forEach((name) => insist(deleteClaim(project, name)));
}

export async function teardown({ project }) {
  for (let client = 1; client <= own; client++) {
    holds(project, `own-${client}`, 0);
  }
  three.forEach((pool) => holds(project, pool, 0));
  await takeAway([project]);
}

export const handleSummary = summary('class-claim-throughput');
