// The typical work of a project, for mixed and soak: mostly reads, claims and releases in balance, and repeats of requests
// whose response a client might have missed.
import exec from 'k6/execution';
import { check } from 'k6';
import { bits, Holdings } from './blocks.js';
import { insist, must, send } from './http.js';
import { noteWrong, took } from './measure.js';
import { createClaim, deleteClaim, getClaim, getPoolFree, keyed, listClaims, putClaim } from './operations.js';
import { holds, makePool, makeProject, takeAway, unique } from './world.js';

const pools = { web: '10.0.0.0/14', lab: '10.4.0.0/14', net6: 'fd00:0:1::/48' };
const lengths = { web: [28, 32], lab: [24, 29], net6: [64, 128] };
const names = Object.keys(pools);
const most = 40; // blocks that one client holds before it releases more than it claims

/** operationNames lists the operations that a step measures. */
export const operationNames = ['get', 'list', 'free', 'claim', 'release', 'repeat'];

/** before makes the project. */
export function before(scenario) {
  const project = makeProject(scenario);
  names.forEach((name) => makePool(project, name, { cidr: pools[name] }));
  return { project };
}

const any = (list) => list[Math.floor(Math.random() * list.length)];
const holdings = Object.fromEntries(names.map((name) => [name, new Holdings(pools[name], lengths[name])]));
const mine = [];
let n = 0;

function wish() {
  const pool = any(names);
  n++;
  return { pool, name: `c-${exec.vu.idInTest}-${n}`, length: any(lengths[pool]) };
}

function keep(w, answer) {
  const cidr = answer.body.status.allocatedCIDR;
  noteWrong(holdings[w.pool].take(cidr, w.name));
  mine.push({ ...w, cidr });
  return cidr;
}

const steps = {
  claim(project) {
    const w = wish();
    const claimed = send(createClaim(project, w.pool, w.name, w.length));
    if (claimed.ok) {
      keep(w, claimed);
      took('claim', claimed.ms);
    }
  },
  release(project) {
    const [held] = mine.splice(Math.floor(Math.random() * mine.length), 1);
    holdings[held.pool].drop(held.cidr);
    const released = insist(deleteClaim(project, held.name));
    if (released.ok) {
      took('release', released.ms);
    }
  },
  get(project) {
    const held = any(mine);
    const got = send(getClaim(project, held.name));
    if (got.ok) {
      took('get', got.ms);
      check(got.body, { 'a claim keeps the block it was given': (b) => b.status.allocatedCIDR === held.cidr });
    }
  },
  list(project) {
    const pool = any(names);
    const got = send(listClaims(project, `?limit=100&pool=${pool}`));
    if (got.ok) {
      took('list', got.ms);
      const within = bits(pools[pool]);
      check(got.body, { 'a page is of its pool': (b) => b.items.every((c) => bits(c.status.allocatedCIDR).startsWith(within)) });
    }
  },
  free(project) {
    const got = send(getPoolFree(project, any(names), '?limit=100'));
    if (got.ok) {
      took('free', got.ms);
    }
  },
  // The same PUT twice: created, then returned.
  put(project) {
    const w = wish();
    const first = insist(putClaim(project, w.pool, w.name, w.length, 201));
    if (!first.ok) {
      return;
    }
    const cidr = keep(w, first);
    const again = send(putClaim(project, w.pool, w.name, w.length, 200));
    if (again.ok) {
      took('repeat', again.ms);
      check(again.body, { 'a repeat has the block of the first': (b) => b.status.allocatedCIDR === cidr });
    }
  },
  // The same POST twice with one key: the stored response.
  key(project) {
    const w = wish();
    const request = keyed(createClaim(project, w.pool, w.name, w.length), unique());
    const first = insist(request);
    if (!first.ok) {
      return;
    }
    const cidr = keep(w, first);
    const again = send(request);
    if (again.ok) {
      took('repeat', again.ms);
      check(again, {
        'a repeat has the block of the first': (a) => a.body.status.allocatedCIDR === cidr,
        'a repeat is marked as one': (a) => a.headers['Idempotency-Replayed'] === 'true',
      });
    }
  },
};

// The operations with their share in percent.
const shares = [['get', 35], ['list', 10], ['free', 5], ['claim', 20], ['release', 25], ['put', 3], ['key', 2]];

function choose() {
  let at = Math.random() * 100;
  const [name] = shares.find(([, share]) => (at -= share) < 0) || shares[0];
  if (mine.length === 0 && (name === 'get' || name === 'release')) {
    return 'claim';
  }
  return name === 'claim' && mine.length >= most ? 'release' : name;
}

/** step runs and measures one operation. */
export function step({ project }) {
  steps[choose()](project);
}

/** after compares the list with the pools' figures; no listed blocks overlap. */
export async function after({ project }) {
  for (const pool of names) {
    const all = new Holdings(pools[pool], lengths[pool]);
    const full = pools[pool].includes(':') ? 128 : 32;
    let addresses = 0n;
    let cursor = '';
    do {
      const page = must(insist(listClaims(project, `?limit=500&pool=${pool}${cursor}`)));
      for (const claim of page.items) {
        const cidr = claim.status.allocatedCIDR;
        noteWrong(all.take(cidr, claim.metadata.name));
        addresses += 1n << BigInt(full - Number(cidr.split('/')[1]));
      }
      cursor = page.nextCursor ? `&cursor=${page.nextCursor}` : '';
    } while (cursor);
    holds(project, pool, addresses);
  }
  await takeAway([project]);
}
