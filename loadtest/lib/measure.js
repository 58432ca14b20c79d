// The measurements: one trend for each operation, the faults that must not happen, and ratios between two operations of one
// run.
import { Counter, Gauge, Trend } from 'k6/metrics';

/** A response of 500 or above. */
export const serverErrors = new Counter('server_errors');
/** A request without a response: refused, cut, timed out. */
export const unanswered = new Counter('unanswered');
/** A block that overlaps a held one, or lies outside its pool. */
const wrongBlocks = new Counter('wrong_blocks');

/** noteWrong counts a fault that Holdings found. */
export function noteWrong(what) {
  if (what) {
    wrongBlocks.add(1);
    console.error(what);
  }
}

// First and last moment of the measured part. Rates use it, because k6's own count includes set-up and tear-down.
const clock = new Gauge('measured_at', true);

const trends = {};

/** operations declares, at load time, the operations that a scenario measures. */
export function operations(...names) {
  for (const name of names) {
    trends[name] = new Trend(`${name}_duration`, true);
  }
}

/** measured returns the names of the declared operations. */
export function measured() {
  return Object.keys(trends);
}

/** took adds one operation with its duration in milliseconds. */
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
 * Ratio compares an operation with a baseline that the same client measures in the same run, as close in time as possible: it
 * divides each sample by a percentile (the 95th) of the client's last baselines. The same percentile of the trend then compares
 * the two, independently of other load on the machine. It adds nothing until it has enough baselines.
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

  /** baseline adds a duration of the baseline operation. */
  baseline(ms) {
    this.samples[this.next % this.window] = ms;
    this.next++;
    // Sorting for every sample would cost more than the request.
    if (this.next >= this.least && this.next % 10 === 0) {
      this.base = quantile(this.samples, this.percentile);
    }
  }

  /** compare adds a duration of the judged operation. */
  compare(ms) {
    if (this.base > 0) {
      this.trend.add(ms / this.base);
    }
  }
}

/**
 * Pairs compares two operations that a client sends one after the other, equally often in both orders: each pair gives one
 * sample, the quotient of the two durations. Its median is 1 for equal costs and k if one costs k times as much. A few samples
 * are enough, even if the speed changes from second to second.
 */
export class Pairs {
  constructor(name) {
    this.trend = new Trend(name);
  }

  /** add adds one pair, in milliseconds. */
  add(ms, baseline) {
    if (baseline > 0) {
      this.trend.add(ms / baseline);
    }
  }
}
