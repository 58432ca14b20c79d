// Sends operations and judges their answers: every request is checked for its status, every refusal for its problem document.
import http from 'k6/http';
import { check, sleep } from 'k6';
import { serverErrors, unanswered } from './measure.js';

const server = (__ENV.CARVE_SERVER || 'http://127.0.0.1:8080').replace(/\/+$/, '');
const credential = __ENV.CARVE_API_KEY ? { Authorization: `Bearer ${__ENV.CARVE_API_KEY}` } : {};

const right = {}; // status -> the callback that calls this status alone a success
let told = 0; // failures that this client has written down

function params(operation) {
  const { op, status } = operation;
  right[status] = right[status] || http.expectedStatuses(status);
  return {
    // Without a name every path would be a time series of its own.
    tags: { name: op },
    headers: { ...credential, ...operation.headers },
    responseCallback: right[status],
    timeout: '30s',
  };
}

/** problem tells whether an answer is the problem document of a code. */
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

/** send sends an operation and waits. The answer is {ok, body, headers, status, ms}. */
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
 * insist is send, repeated while the answer is 503, which promises that nothing was changed. Each of those answers has been
 * counted as the fault that it is; repeating keeps one of them from spoiling what the scenario counts afterwards.
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

/** must is the answer of an operation without which the test cannot go on. */
export function must(answer) {
  if (!answer.ok) {
    throw new Error(`the test cannot go on: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return answer.body;
}
