// Sends operations and judges their responses: checks the status of every request, and the problem document of every refusal.
import http from 'k6/http';
import { check, sleep } from 'k6';
import { serverErrors, unanswered } from './measure.js';

const server = (__ENV.CARVE_SERVER || 'http://127.0.0.1:8080').replace(/\/+$/, '');
const credential = __ENV.CARVE_API_KEY ? { Authorization: `Bearer ${__ENV.CARVE_API_KEY}` } : {};

const right = {}; // status -> the callback that accepts only this status
let told = 0; // failures that this client has logged

function params(operation) {
  const { op, status } = operation;
  right[status] = right[status] || http.expectedStatuses(status);
  return {
    // Without a name, every path would be a separate time series.
    tags: { name: op },
    headers: { ...credential, ...operation.headers },
    responseCallback: right[status],
    timeout: '30s',
  };
}

/** problem reports whether a response is the problem document of a code. */
function problem(res, body, operation) {
  return (res.headers['Content-Type'] || '').startsWith('application/problem+json')
    && body !== null && body.code === operation.code && body.status === operation.status
    && body.type === `/problems/${operation.code}` && !!body.title && !!body.detail && !!body.traceId;
}

function parsed(res) {
  if (!res.body) {
    return null;
  }
  try {
    return res.json();
  } catch (_) {
    return null;
  }
}

function judge(operation, res) {
  const { op, status, code, location } = operation;
  if (res.status === 0) {
    unanswered.add(1);
  } else if (res.status >= 500) {
    serverErrors.add(1);
  }
  const body = parsed(res);
  let ok = res.status === status;
  const checks = { [`${op} is answered ${status}${code ? ` ${code}` : ''}`]: () => ok };
  if (ok && code) {
    ok = problem(res, body, operation);
  } else if (ok && location) {
    const made = res.headers.Location === location && /^"[^"]+"$/.test(res.headers.Etag || '') && body !== null;
    checks[`${op} says where it is and which revision`] = () => made;
    ok = ok && made;
  }
  check(res, checks);
  if (!ok && told < 3) {
    told++;
    const got = `${res.status} ${res.error || ''} ${String(res.body).slice(0, 400)}`;
    console.error(`${operation.method} ${operation.path}: wanted ${status} ${code || ''}, got ${got}`);
  }
  return { ok, body, headers: res.headers, status: res.status, ms: res.timings.duration };
}

const text = (operation) => (operation.body === undefined ? null : JSON.stringify(operation.body));

/** send sends an operation and waits. It returns {ok, body, headers, status, ms}. */
export function send(operation) {
  return judge(operation, http.request(operation.method, server + operation.path, text(operation), params(operation)));
}

/** sendAsync is send for clients that share one runtime. */
export async function sendAsync(operation) {
  return judge(operation, await http.asyncRequest(operation.method, server + operation.path, text(operation), params(operation)));
}

const tries = 40;
const pause = 0.05; // seconds; the server asks for more, but a test that waits measures nothing

/**
 * insist repeats send while the response is 503, which promises that nothing changed. Each 503 counts as a fault; the
 * repetition keeps it from affecting the later counts of the scenario.
 */
export function insist(operation) {
  let answer = send(operation);
  for (let i = 1; i < tries && answer.status === 503; i++) {
    sleep(pause);
    answer = send(operation);
  }
  return answer;
}

/** insistAsync is insist for clients that share one runtime. */
export async function insistAsync(operation) {
  let answer = await sendAsync(operation);
  for (let i = 1; i < tries && answer.status === 503; i++) {
    await new Promise((go) => { setTimeout(go, 1000 * pause); });
    answer = await sendAsync(operation);
  }
  return answer;
}

/** must returns the response of an operation without which the test cannot continue. */
export function must(answer) {
  if (!answer.ok) {
    throw new Error(`the test cannot go on: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}
