// Reads at a fixed rate: a claim, a page of claims, free blocks. The test compares a page of a large pool with a page of the
// same length of a small one, and does the same for a single claim, because the number of held blocks must not slow reads.
import { check } from 'k6';
import { bits, inside } from './lib/blocks.js';
import { each } from './lib/crew.js';
import { insist, insistAsync, must, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { operations, Ratio, took } from './lib/measure.js';
import { deleteClaim, getClaim, getPool, getPoolFree, listClaims } from './lib/operations.js';
import { atMost, open, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { claimMany, makePool, makeProject, takeAway } from './lib/world.js';

const seed = knobs.count('SEED', { full: 50000, short: 3000 });
const page = 100;
const cidrs = { big: '10.0.0.0/12', small: '10.16.0.0/24' };
operations('get', 'get_small', 'list', 'list_small', 'free');
const getBigOverSmall = new Ratio('get_big_over_small', { least: 10 });
const listBigOverSmall = new Ratio('list_big_over_small', { least: 10 });

export const options = promise(
  {
    reads: open(
      knobs.count('RATE', { full: 100, short: 40 }),
      knobs.duration('DURATION', { full: '60s', short: '8s' }),
      knobs.count('CLIENTS', 8),
    ),
  },
  { get_big_over_small: atMost(1.5), list_big_over_small: atMost(1.5) },
);

export async function setup() {
  const project = makeProject('read-latency');
  makePool(project, 'big', { cidr: cidrs.big });
  makePool(project, 'small', { cidr: cidrs.small });
  const small = claimMany(project, 'small', 'small', page, 32);
  const all = claimMany(project, 'big', 'big', seed, 32);
  // Holes, so that more than one block is free.
  const holes = all.filter((_, i) => i % 20 === 7);
  await each(holes, 16, async (c) => must(await insistAsync(deleteClaim(project, c.name))));
  const cursors = [''];
  let next = must(insist(listClaims(project, `?pool=big&limit=${page}`))).nextCursor;
  while (next && cursors.length < 50) {
    cursors.push(`&cursor=${next}`);
    next = must(insist(listClaims(project, `?pool=big&limit=${page}&cursor=${next}`))).nextCursor;
  }
  // The last page may be short and is not compared.
  cursors.pop();
  const big = all.filter((_, i) => i % 20 !== 7).slice(0, 5000);
  return { project, big, small, cursors };
}

const any = (list) => list[Math.floor(Math.random() * list.length)];

function get(project, claim, operation) {
  const got = send(getClaim(project, claim.name));
  if (got.ok) {
    took(operation, got.ms);
    check(got.body, { 'a claim keeps the block it was given': (b) => b.status.allocatedCIDR === claim.cidr });
  }
  return got.ms;
}

function list(project, pool, cursor, operation) {
  const got = send(listClaims(project, `?pool=${pool}&limit=${page}${cursor}`));
  if (got.ok) {
    took(operation, got.ms);
    const blocks = got.body.items.map((c) => bits(c.status.allocatedCIDR));
    check(blocks, {
      'a page is full, in order of address, and of its pool': (all) => all.length === page
        && all.every((b, i) => b.startsWith(bits(cidrs[pool])) && (i === 0 || all[i - 1] < b)),
    });
  }
  return got.ms;
}

function free(project) {
  const got = send(getPoolFree(project, 'big', '?limit=100'));
  if (got.ok) {
    took('free', got.ms);
    check(got.body, {
      'what is free lies in the pool, by length': (b) => b.items.length > 0 && b.items.every((f, i) => inside(f.cidr, bits(cidrs.big))
        && (i === 0 || bits(b.items[i - 1].cidr).length <= bits(f.cidr).length)),
    });
  }
}

export default function reads({ project, big, small, cursors }) {
  getBigOverSmall.baseline(get(project, any(small), 'get_small'));
  getBigOverSmall.compare(get(project, any(big), 'get'));
  listBigOverSmall.baseline(list(project, 'small', '', 'list_small'));
  listBigOverSmall.compare(list(project, 'big', any(cursors), 'list'));
  free(project);
}

export async function teardown({ project }) {
  const pool = must(insist(getPool(project, 'big')));
  check(pool, { 'reads have changed nothing': (p) => p.status.capacity.allocated === String(seed - Math.floor((seed + 12) / 20)) });
  await takeAway([project]);
}

export const handleSummary = summary('read-latency');
