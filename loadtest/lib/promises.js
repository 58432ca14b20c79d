// The thresholds of every scenario, and functions with which a scenario adds its own. A failed threshold makes k6 exit with 99.
import * as knobs from './knobs.js';
import { measured } from './measure.js';

const given = knobs.optional('RATIO');
// A few seconds on a machine that also runs the database and the generator show less than a minute does.
const slack = knobs.number('SLACK', { full: 1, short: 1.5 });

/**
 * atMost returns the thresholds of a ratio: a percentile of it is within the bound, which LOAD_RATIO replaces; and it has a
 * sample, because k6 accepts an empty trend.
 */
export function atMost(bound, percentile = 95) {
  // The summaries call the 50th percentile so.
  const of = percentile === 50 ? 'med' : `p(${percentile})`;
  return [`${of}<=${given || Math.round(100 * bound * slack) / 100}`, 'max>0'];
}

/**
 * options returns the options of a scenario: its parts, their load, and its own thresholds. Every response is right, no
 * response is a 5xx or missing, no block is held twice, the generator dropped nothing, and each measured operation ran at least
 * once.
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
    common[`${name}_duration`] = ['max>0']; // the only way to require samples
  }
  return {
    scenarios,
    thresholds: { ...common, ...thresholds },
    setupTimeout: '10m',
    teardownTimeout: '30m',
    summaryTrendStats: ['count', 'min', 'avg', 'med', 'p(95)', 'p(99)', 'max'],
    // Number of idle connections of a runtime: one for each of its clients.
    batch: 256,
    batchPerHost: 256,
  };
}

/** closed is a number of clients that each send as soon as they have a response. */
export const closed = (clients, ms) => ({ executor: 'constant-vus', vus: clients, duration: `${ms}ms` });

/** open is a rate of iterations a second that does not wait for responses; k6 drops and counts an iteration without a free client. */
export const open = (rate, ms, clients) => ({
  executor: 'constant-arrival-rate',
  rate,
  timeUnit: '1s',
  duration: `${ms}ms`,
  preAllocatedVUs: clients,
  maxVUs: clients * 4,
});

/** rising begins with one rate of iterations a second and ends with another, however slow the responses are. */
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
