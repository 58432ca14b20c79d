// claim-throughput with IPv6: a /48 for each client, for claims of /64 networks and single addresses.
import * as knobs from './lib/knobs.js';
import { operations } from './lib/measure.js';
import { atMost, closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { after, claimer, pools } from './lib/throughput.js';

const clients = knobs.count('CLIENTS', 32);
operations('claim', 'release');
const claimAndRelease = claimer([64, 128]);

export const options = promise(
  { claims: closed(clients, knobs.duration('DURATION', { full: '60s', short: '6s' })) },
  { release_over_claim: atMost(1) },
);
export const setup = () => pools('ipv6-claim-throughput', clients, (i) => `fd00:0:${i.toString(16)}::/48`);
export default claimAndRelease;
export const teardown = after;
export const handleSummary = summary('ipv6-claim-throughput');
