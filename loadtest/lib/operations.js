// The operations of the contract as plain data: the request and the right response. lib/http.js sends them.
import * as knobs from './knobs.js';

const project = (name) => `/v1/projects/${name}`;
const json = { 'Content-Type': 'application/json' };

function create(op, path, body) {
  return { op, method: 'POST', path, body, headers: json, status: 201, location: `${path}/${body.metadata.name}` };
}

export const createProject = (name) => create('createProject', '/v1/projects', { metadata: { name } });
export const deleteProject = (name) => ({ op: 'deleteProject', method: 'DELETE', path: project(name), status: 204 });

export const createPool = (p, name, spec) => create('createPool', `${project(p)}/pools`, { metadata: { name }, spec });
export const getPool = (p, name) => ({ op: 'getPool', method: 'GET', path: `${project(p)}/pools/${name}`, status: 200 });
export const deletePool = (p, name) => ({ op: 'deletePool', method: 'DELETE', path: `${project(p)}/pools/${name}`, status: 204 });
export const listPools = (p, query = '') => ({ op: 'listPools', method: 'GET', path: `${project(p)}/pools${query}`, status: 200 });
export const getPoolFree = (p, name, query = '') => (
  { op: 'getPoolFree', method: 'GET', path: `${project(p)}/pools/${name}/free${query}`, status: 200 });

/** keyed returns an operation with an Idempotency-Key. */
export const keyed = (operation, key) => ({ ...operation, headers: { ...operation.headers, 'Idempotency-Key': key } });

const keys = knobs.flag('KEYS');
const part = () => Math.floor(Math.random() * 2 ** 48).toString(16).padStart(12, '0');
// Depends on the knob: with a new key, which repeats of the same operation keep, or without one.
const asWanted = (operation) => (keys ? keyed(operation, `${part()}-${part()}`) : operation);

const claimSpec = (pool, prefixLength) => ({ poolRef: { name: pool }, prefixLength });

export const createClaim = (p, pool, name, length) => asWanted(
  create('createClaim', `${project(p)}/claims`, { metadata: { name }, spec: claimSpec(pool, length) }));
export const putClaim = (p, pool, name, length, status) => (
  { op: 'putClaim', method: 'PUT', path: `${project(p)}/claims/${name}`, body: { spec: claimSpec(pool, length) }, headers: json, status });
export const getClaim = (p, name) => ({ op: 'getClaim', method: 'GET', path: `${project(p)}/claims/${name}`, status: 200 });
export const deleteClaim = (p, name) => ({ op: 'deleteClaim', method: 'DELETE', path: `${project(p)}/claims/${name}`, status: 204 });
export const listClaims = (p, query = '') => ({ op: 'listClaims', method: 'GET', path: `${project(p)}/claims${query}`, status: 200 });

export const createClass = (p, name, spec) => create('createClass', `${project(p)}/classes`, { metadata: { name }, spec });

/** createClaimByClass claims by a class. k6's own metrics count it separately from claims by pool. */
export const createClaimByClass = (p, className, name, prefixLength) => asWanted({
  ...create('createClaim', `${project(p)}/claims`, { metadata: { name }, spec: { className, prefixLength } }), op: 'createClaimByClass' });

/** createClaimBatch claims a block for each [name, pool, prefixLength]. */
export const createClaimBatch = (p, wishes) => asWanted({
  op: 'createClaimBatch',
  method: 'POST',
  path: `${project(p)}/claim-batches`,
  headers: json,
  body: { claims: wishes.map(([name, pool, length]) => ({ metadata: { name }, spec: claimSpec(pool, length) })) },
  status: 201,
});

export const listAllocations = (p, query = '') => (
  { op: 'listAllocations', method: 'GET', path: `${project(p)}/allocations${query}`, status: 200 });

/** refused returns an operation whose right response is a problem document with this status and code. */
export const refused = (operation, status, code) => ({ ...operation, status, code });
