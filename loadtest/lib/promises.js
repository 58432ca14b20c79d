// The thresholds that every scenario has, and how a scenario adds its own. A threshold that fails makes k6 exit with 99.
import * as knobs from './knobs.js';
import { measured } from './measure.js';

const given = knobs.optional('RATIO');
// A few seconds on a machine that also runs the database and the generator say less than a minute does.
const slack = knobs.number('SLACK', { full: 1, short: 1.5 });

/**
 * atMost are the thresholds of a ratio: a percentile of it is within the bound, which LOAD_RATIO replaces; and there is a
 * sample, because k6 finds nothing wrong with an empty trend.
 */
export function atMost(bound, percentile = 95) {
  // The summaries call the 50th percentile so.
  const of = percentile === 50 ? 'med' : `p(${percentile})`;
  return [`${of}<=${given || Math.round(100 * bound * slack) / 100}`, 'max>0'];
}

/**
 * options of a scenario: when its parts begin and how they press, and its own thresholds. Every answer is the right one, no
 * answer is a 5xx or missing, no block is given twice, nothing was left out because the generator could not keep up, and
 * each operation that it measures was carried out at all.
 */
export function options(scenarios, thresholds = {}) {
  const common = {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
    server_errors: ['count==0'],
    unanswered: ['count==0'],
    wrong_blocks: ['count==0'],
    dropped_iterations: ['count==0'],
  };
  for (const name of measured()) {
    common[`${name}_duration`] = ['max>0']; // the one way to say that there are samples
  }
  return {
    scenarios,
    thresholds: { ...common, ...thresholds },
    setupTimeout: '10m',
    teardownTimeout: '30m',
    summaryTrendStats: ['count', 'min', 'avg', 'med', 'p(95)', 'p(99)', 'max'],
    // How many idle connections a runtime keeps: one for each of the clients that share it.
    batch: 256,
    batchPerHost: 256,
  };
}

/** closed is a number of clients that each send as soon as they have their answer. */
export const closed = (clients, ms) => ({ executor: 'constant-vus', vus: clients, duration: `${ms}ms` });

/** open is a rate of iterations a second that does not wait for answers; what finds no free client is dropped, and counted. */
export const open = (rate, ms, clients) => ({
  executor: 'constant-arrival-rate',
  rate,
  timeUnit: '1s',
  duration: `${ms}ms`,
  preAllocatedVUs: clients,
  maxVUs: clients * 4,
});

/** rising begins with a rate of iterations a second and ends with another, whatever the answers take. */
export const rising = (from, to, ms, clients) => ({
  executor: 'ramping-arrival-rate',
  startRate: from,
  timeUnit: '1s',
  stages: [{ target: to, duration: `${ms}ms` }],
  preAllocatedVUs: clients,
  maxVUs: clients * 4,
});

/** once is one runtime that runs its function once: for clients that must see each other's blocks (lib/crew.js). */
export const once = (ms) => ({ executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: `${ms}ms` });
