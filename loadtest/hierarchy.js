// Child pools are carved, used and released under load: in one region pool, every client makes a child and a grandchild, claims
// from the grandchild, checks that neither can be deleted while it has content, and deletes everything again.
import exec from 'k6/execution';
import { check } from 'k6';
import { bits, Holdings, inside } from './lib/blocks.js';
import { insist, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { noteWrong, operations, took } from './lib/measure.js';
import { createClaim, createPool, deleteClaim, deletePool, refused } from './lib/operations.js';
import { closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { holds, makePool, makeProject, takeAway } from './lib/world.js';

const clients = knobs.count('CLIENTS', 16);
const claims = 4;
const region = '10.0.0.0/12';
operations('carve', 'claim', 'release', 'uncarve');

export const options = promise({ carve: closed(clients, knobs.duration('DURATION', { full: '60s', short: '6s' })) });

export function setup() {
  const project = makeProject('hierarchy');
  makePool(project, 'root', { cidr: '10.0.0.0/8' });
  makePool(project, 'region', { parentRef: { name: 'root' }, cidr: region });
  return { project };
}

function carve(project, parent, name, prefixLength, outer) {
  const carved = send(createPool(project, name, { parentRef: { name: parent }, prefixLength }));
  if (!carved.ok) {
    return '';
  }
  took('carve', carved.ms);
  const { allocatedCIDR } = carved.body.status;
  check(allocatedCIDR, {
    'a child lies in its parent, as long as asked': (c) => inside(c, bits(outer)) && c.endsWith(`/${prefixLength}`),
  });
  return allocatedCIDR;
}

function uncarve(project, name) {
  const gone = insist(deletePool(project, name));
  if (gone.ok) {
    took('uncarve', gone.ms);
  }
}

function use(project, pool, cidr, stem) {
  const holdings = new Holdings(cidr, [28]);
  const names = [];
  for (let i = 0; i < claims; i++) {
    const claimed = send(createClaim(project, pool, `${stem}-${i}`, 28));
    if (claimed.ok) {
      took('claim', claimed.ms);
      noteWrong(holdings.take(claimed.body.status.allocatedCIDR, `${stem}-${i}`));
      names.push(`${stem}-${i}`);
    }
  }
  if (names.length > 0) {
    send(refused(deletePool(project, pool), 409, 'in_use'));
  }
  for (const name of names) {
    const released = insist(deleteClaim(project, name));
    if (released.ok) {
      took('release', released.ms);
    }
  }
}

export default function hierarchy({ project }) {
  const stem = `${exec.vu.idInTest}-${exec.vu.iterationInScenario}`;
  const site = carve(project, 'region', `site-${stem}`, 20, region);
  if (!site) {
    return;
  }
  const rack = carve(project, `site-${stem}`, `rack-${stem}`, 24, site);
  if (rack) {
    use(project, `rack-${stem}`, rack, `c-${stem}`);
    send(refused(deletePool(project, `site-${stem}`), 409, 'in_use'));
    uncarve(project, `rack-${stem}`);
  }
  uncarve(project, `site-${stem}`);
}

export async function teardown({ project }) {
  holds(project, 'region', 0);
  await takeAway([project]);
}

export const handleSummary = summary('hierarchy');
