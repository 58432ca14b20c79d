// The workload of mixed for a long time (LOAD_DURATION). One additional client only claims and releases. Its claims must not
// be slower in the last fifth than in the first. The held blocks at the end must add up to the address.
import exec from 'k6/execution';
import { insist, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { operations, Ratio, took } from './lib/measure.js';
import { createClaim, deleteClaim } from './lib/operations.js';
import { atMost, closed, open, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { after, before, operationNames, step } from './lib/workload.js';
import { holds, makePool } from './lib/world.js';

const length = knobs.duration('DURATION', { full: '10m', short: '10s' });
operations(...operationNames);
const lateOverEarly = new Ratio('late_over_early', { window: 20000 });

export const options = promise(
  {
    soak: open(knobs.count('RATE', { full: 200, short: 80 }), length, knobs.count('CLIENTS', 32)),
    probe: { ...closed(1, length), exec: 'probe' },
  },
  { late_over_early: atMost(1.5) },
);

export function setup() {
  const world = before('soak');
  makePool(world.project, 'probe', { cidr: '10.8.0.0/24' });
  return world;
}

export default function soak(world) {
  step(world);
}

export function probe({ project }) {
  const { progress } = exec.scenario;
  const name = `probe-${exec.vu.iterationInScenario}`;
  const claimed = send(createClaim(project, 'probe', name, 32));
  if (!claimed.ok) {
    return;
  }
  took('claim', claimed.ms);
  if (progress < 0.2) {
    lateOverEarly.baseline(claimed.ms);
  } else if (progress >= 0.8) {
    lateOverEarly.compare(claimed.ms);
  }
  const released = insist(deleteClaim(project, name));
  if (released.ok) {
    took('release', released.ms);
  }
}

export async function teardown(world) {
  holds(world.project, 'probe', 0);
  await after(world);
}

export const handleSummary = summary('soak');
