// Reads, claims, releases and repeats at a fixed rate, in three pools of two families.
import * as knobs from './lib/knobs.js';
import { operations } from './lib/measure.js';
import { open, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { after, before, operationNames, step } from './lib/workload.js';

operations(...operationNames);

export const options = promise({
  mixed: open(
    knobs.count('RATE', { full: 500, short: 100 }),
    knobs.duration('DURATION', { full: '60s', short: '8s' }),
    knobs.count('CLIENTS', 32),
  ),
});
export const setup = () => before('mixed');
export default function mixed(world) {
  step(world);
}
export const teardown = after;
export const handleSummary = summary('mixed');
