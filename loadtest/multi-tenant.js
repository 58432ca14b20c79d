// LOAD_PROJECTS projects with the same addresses, each in its own space. Each client claims in its own project and in a random
// one, which must not cost more. No client finds a claim under another project's path.
import exec from 'k6/execution';
import { check } from 'k6';
import { bits, inside } from './lib/blocks.js';
import { insist, send } from './lib/http.js';
import * as knobs from './lib/knobs.js';
import { noteWrong, operations, Ratio, took } from './lib/measure.js';
import { createClaim, deleteClaim, getClaim, refused } from './lib/operations.js';
import { atMost, closed, options as promise } from './lib/promises.js';
import { summary } from './lib/summary.js';
import { holds, makeProjects, takeAway } from './lib/world.js';

const projects = knobs.count('PROJECTS', 100);
const cidr = '10.0.0.0/20';
operations('claim', 'release', 'foreign');
const anyOverHome = new Ratio('any_over_home');

export const options = promise(
  { tenants: closed(knobs.count('CLIENTS', 16), knobs.duration('DURATION', { full: '60s', short: '6s' })) },
  { any_over_home: atMost(1.5) },
);

export const setup = async () => ({ all: await makeProjects(`tenants-${projects}`, projects, [['pool', { cidr }]]) });

function claim(project, name, compared) {
  const claimed = send(createClaim(project, 'pool', name, 28));
  if (!claimed.ok) {
    return false;
  }
  took('claim', claimed.ms);
  compared(claimed.ms);
  const { metadata, status } = claimed.body;
  noteWrong(inside(status.allocatedCIDR, bits(cidr)) ? '' : `${status.allocatedCIDR} is outside its pool`);
  check(metadata, { 'a claim is of the project that asked': (m) => m.project === project });
  return true;
}

function release(project, name) {
  const released = insist(deleteClaim(project, name));
  if (released.ok) {
    took('release', released.ms);
  }
}

export default function tenants({ all }) {
  const vu = exec.vu.idInTest;
  const home = vu % all.length;
  const other = (home + 1 + Math.floor(Math.random() * (all.length - 1))) % all.length;
  const name = `c-${vu}-${exec.vu.iterationInScenario}`;
  const atHome = claim(all[home], name, (ms) => anyOverHome.baseline(ms));
  if (atHome && other !== home) {
    const foreign = send(refused(getClaim(all[other], name), 404, 'not_found'));
    if (foreign.ok) {
      took('foreign', foreign.ms);
    }
  }
  if (claim(all[other], `${name}-away`, (ms) => anyOverHome.compare(ms))) {
    release(all[other], `${name}-away`);
  }
  if (atHome) {
    release(all[home], name);
  }
}

export async function teardown({ all }) {
  all.slice(0, 100).forEach((project) => holds(project, 'pool', 0));
  await takeAway(all);
}

export const handleSummary = summary('multi-tenant');
