// Pages of every list, at a fixed rate; with LOAD_RATE=max as fast as LOAD_CLIENTS can read them; with LOAD_RATE=100-9000 at a
// rate that rises beyond the machine's limit, where only sent requests need a response. No request may fail, and the cursors
// must visit every item once.
import exec from 'k6/execution';
import { check } from 'k6';
import { send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { operations, took } from './lib/measure.js';
import { listAllocations, listClaims, listPools } from './lib/operations.js';
import { closed, open, options as promise, rising } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { claimMany, makePool, makeProject, takeAway } from './lib/world.js';

const rate = knobs.text('RATE', { full: '300', short: '100' });
const length = knobs.duration('DURATION', { full: '2m', short: '6s' });
const clients = knobs.count('CLIENTS', 16);
const seed = knobs.count('SEED', { full: 10000, short: 1000 });
const pools = 120;
const page = knobs.count('PAGE', 100);
operations('list');

const [from, to] = rate.split('-').map(Number);

function pressure() {
  if (rate === 'max') {
    return closed(clients, length);
  }
  return to ? rising(from, to, length, clients) : open(knobs.count('RATE', rate), length, clients);
}

// At a rising rate, a request that the generator cannot send is no fault of the server.
export const options = promise({ storm: pressure() }, to ? { dropped_iterations: ['count>=0'] } : {});

export function setup() {
  const project = makeProject('list-storm');
  makePool(project, 'root', { cidr: '10.0.0.0/8' });
  for (let i = 1; i < pools; i++) {
    makePool(project, `child-${i}`, { parentRef: { name: 'root' }, prefixLength: 24 });
  }
  claimMany(project, 'root', 'c', seed, 32);
  return { project };
}

const kinds = [
  { of: listClaims, query: '', total: seed },
  { of: listClaims, query: '&pool=root', total: seed },
  { of: listPools, query: '', total: pools },
  { of: listAllocations, query: '', total: seed + pools - 1 },
];
// This client's position in each list: the cursor of the next page, and the names that it has seen.
const places = kinds.map(() => ({ cursor: '', seen: new Set(), twice: 0 }));

export default function storm({ project }) {
  const at = exec.vu.iterationInScenario % kinds.length;
  const { of, query, total } = kinds[at];
  const place = places[at];
  const got = send(of(project, `?limit=${page}${query}${place.cursor}`));
  if (!got.ok) {
    return;
  }
  took('list', got.ms);
  for (const { metadata } of got.body.items) {
    place.twice += place.seen.has(metadata.name) ? 1 : 0;
    place.seen.add(metadata.name);
  }
  if (got.body.nextCursor) {
    place.cursor = `&cursor=${got.body.nextCursor}`;
    return;
  }
  check(place, { 'the pages of a list show every item once': (p) => p.seen.size === total && p.twice === 0 });
  places[at] = { cursor: '', seen: new Set(), twice: 0 };
}

export const teardown = ({ project }) => takeAway([project]);
export const handleSummary = summary('list-storm');
