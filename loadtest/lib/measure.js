// What is measured: one trend an operation, the faults that must not happen, and ratios between two operations of one run.
import { Counter, Gauge, Trend } from 'k6/metrics';

/** An answer of 500 or above. */
export const serverErrors = new Counter('server_errors');
/** A request without an answer: refused, cut, timed out. */
export const unanswered = new Counter('unanswered');
/** A block that overlaps one that is held, or that lies outside its pool. */
const wrongBlocks = new Counter('wrong_blocks');

/** noteWrong counts what Holdings have found wrong with a block, if anything. */
export function noteWrong(what) {
  if (what) {
    wrongBlocks.add(1);
    console.error(what);
  }
}

// First and last moment of the measured part. Rates are counted over it, because k6's own count set-up and tear-down in.
const clock = new Gauge('measured_at', true);

const trends = {};

/** operations declares, at load time, the operations that a scenario measures. */
export function operations(...names) {
  for (const name of names) {
    trends[name] = new Trend(`${name}_duration`, true);
  }
}

/** measured names the operations that were declared. */
export function measured() {
  return Object.keys(trends);
}

/** took adds one operation that lasted so many milliseconds. */
export function took(name, ms) {
  const now = Date.now();
  clock.add(now - ms);
  clock.add(now);
  trends[name].add(ms);
}

/** quantile of numbers, by the nearest rank. */
export function quantile(numbers, q) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

/**
 * Ratio compares an operation with a baseline that the same client measures in the same run, as near to it as can be: each
 * sample is divided by a percentile (the 95th) of the client's last baselines. The same percentile of the trend then says how
 * the two compare, whatever else the machine was doing. Until there are enough baselines, nothing is added.
 */
export class Ratio {
  constructor(name, { percentile = 0.95, window = 200, least = 20 } = {}) {
    this.trend = new Trend(name);
    this.percentile = percentile;
    this.window = window;
    this.least = least;
    this.samples = [];
    this.next = 0;
    this.base = 0;
  }

  /** baseline adds a duration of the operation that is compared with. */
  baseline(ms) {
    this.samples[this.next % this.window] = ms;
    this.next++;
    // Sorting for every sample would cost more than the request.
    if (this.next >= this.least && this.next % 10 === 0) {
      this.base = quantile(this.samples, this.percentile);
    }
  }

  /** compare adds a duration of the operation that is judged. */
  compare(ms) {
    if (this.base > 0) {
      this.trend.add(ms / this.base);
    }
  }
}

/**
 * Pairs compares two operations that a client sends one after the other, as often in one order as in the other: a sample for each
 * pair, what the one took divided by what the other took. Its median is 1 where they cost the same and k where one costs k times
 * as much, with a few samples already and whatever changes from second to second.
 */
export class Pairs {
  constructor(name) {
    this.trend = new Trend(name);
  }

  /** add is one pair, in milliseconds. */
  add(ms, baseline) {
    if (baseline > 0) {
      this.trend.add(ms / baseline);
    }
  }
}
