// Claims and releases as fast as LOAD_CLIENTS clients can: 90 % in the clients' own pools, 10 % in a shared one.
import * as knobs from './lib/knobs.js';
import { operations } from './lib/measure.js';
import { atMost, closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { after, claimer, pools } from './lib/throughput.js';

const clients = knobs.count('CLIENTS', 32);
operations('claim', 'release');
const claimAndRelease = claimer([32, 28]);

export const options = promise(
  { claims: closed(clients, knobs.duration('DURATION', { full: '60s', short: '6s' })) },
  { release_over_claim: atMost(1) },
);
export const setup = () => pools('claim-throughput', clients, (i) => (i === 0 ? '172.16.0.0/16' : `10.${i >> 8}.${i & 255}.0/24`));
export default claimAndRelease;
export const teardown = after;
export const handleSummary = summary('claim-throughput');
