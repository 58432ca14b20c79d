// Every knob of the load tests: an environment variable LOAD_<NAME>. A scenario gives each of its knobs a default for the full
// and for the short profile; the environment overrides both.

const known = {
  PROFILE: 'full or short: which defaults apply',
  OUT: 'folder for the JSON and HTML summaries; it must exist',
  KEEP: '1: leave what was made on the server, so that an audit afterwards has something to look at',
  PREFIX: 'first part of the names of the projects that are made',
  LABEL: 'name of this run in the summaries, when one scenario is run with several settings',
  DATABASE_URL: 'database of the server that run.sh starts',
  DURATION: 'how long the measured part lasts, as 90s, 10m or 1h',
  CLIENTS: 'callers at the same time',
  RATE: 'iterations begun per second; for list-storm also "max": as many as LOAD_CLIENTS can, and "100-9000": ever more',
  PAGE: 'length of the pages that list-storm reads',
  KEYS: '1: each claim, and each batch, is sent with an Idempotency-Key',
  BATCH: 'claims in one batch',
  PROJECTS: 'projects at the same time',
  SEED: 'claims made before the measured part begins',
  POOL_LENGTH: 'prefix length of the pool that is filled',
  RATIO: 'replaces the bound of every ratio',
  SLACK: 'what the bound of every ratio is multiplied with',
};

for (const name of Object.keys(__ENV)) {
  if (name.startsWith('LOAD_') && !(name.slice(5) in known)) {
    throw new Error(`${name} is not a knob; the knobs are ${Object.keys(known).map((k) => `LOAD_${k}`).join(', ')}`);
  }
}

/** The knobs that this run has used, with their values, for its summary. */
export const used = {};

function given(name) {
  if (!(name in known)) {
    throw new Error(`LOAD_${name} is not in the list of knobs`);
  }
  const value = __ENV[`LOAD_${name}`];
  return value === undefined || value === '' ? undefined : value;
}

export const profile = given('PROFILE') || 'full';
if (profile !== 'full' && profile !== 'short') {
  throw new Error(`LOAD_PROFILE is full or short, not ${profile}`);
}
used.PROFILE = profile;

function pick(name, defaults) {
  const value = given(name);
  const chosen = value === undefined ? (defaults && typeof defaults === 'object' ? defaults[profile] : defaults) : value;
  used[name] = chosen;
  return chosen;
}

/** text returns a knob unchanged. Defaults are one value, or {full, short}. */
export function text(name, defaults) {
  return String(pick(name, defaults));
}

/** flag returns true if the knob is 1. */
export function flag(name) {
  return pick(name, '0') === '1';
}

/** number returns a knob that is a number above zero. */
export function number(name, defaults) {
  const value = Number(pick(name, defaults));
  if (!(value > 0)) {
    throw new Error(`LOAD_${name} must be a number above zero, not ${used[name]}`);
  }
  return value;
}

/** optional returns an optional number; the default is 0. */
export function optional(name) {
  return given(name) === undefined ? 0 : number(name);
}

/** count returns a knob that is a whole number above zero. */
export function count(name, defaults) {
  const value = number(name, defaults);
  if (!Number.isInteger(value)) {
    throw new Error(`LOAD_${name} must be a whole number, not ${value}`);
  }
  return value;
}

const units = { ms: 1, s: 1000, m: 60000, h: 3600000 };

/** duration returns a knob that is a time, in milliseconds. */
export function duration(name, defaults) {
  const value = pick(name, defaults);
  const match = /^([0-9]+)(ms|s|m|h)$/.exec(value);
  if (!match || Number(match[1]) === 0) {
    throw new Error(`LOAD_${name} must be a duration like 90s, 10m or 1h, not ${value}`);
  }
  return Number(match[1]) * units[match[2]];
}
