import { readProblem, type Whole } from "./problem.js";

/** What one attempt came to. */
export type Outcome = { readonly answer: Whole } | { readonly failure: unknown };

/** Why a repeat may have a better end, or nothing. */
export function worthRepeating(outcome: Outcome): string | undefined {
  if ("failure" in outcome) {
    if (strange(outcome.failure)) return undefined;
    if (outcome.failure instanceof DOMException && outcome.failure.name === "TimeoutError") return "there was no answer in time";
    return neverLeft(outcome.failure) ? "the server cannot be reached" : "the connection was lost";
  }
  const { status } = outcome.answer.response;
  if (status === 503 || status === 429) return `the server said ${status}, not now`;
  // Carve's own 504 has spent the request's time already; that of a proxy has lost its server.
  if ((status === 502 || status === 504) && readProblem(outcome.answer) === undefined) return `something before the server said ${status}`;
  return undefined;
}

/** Whether, after one more attempt, it is not known whether the request was carried out. */
export function stillOpen(before: boolean, request: Request, outcome: Outcome): boolean {
  if (isHarmless(request)) return false;
  if ("failure" in outcome) return before || !(neverLeft(outcome.failure) || strange(outcome.failure));
  const { status } = outcome.answer.response;
  if (mayBeDone(outcome.answer)) return true;
  if (status >= 500 || status === 429) return before; // this attempt was not carried out; an earlier one may have been
  if (status < 300) return false;
  // Who repeats by a key or a name is told what became of the first one. A precondition that fails tells nothing.
  return before && (!isSafeTwice(request) || request.method === "DELETE");
}

/**
 * Whether an answer leaves open what became of the request: the server says so, or it is not the server that answers, but
 * something before it that lost it.
 */
function mayBeDone(answer: Whole): boolean {
  if (![502, 503, 504].includes(answer.response.status)) return false;
  const problem = readProblem(answer);
  return problem === undefined || problem.code === "outcome_unknown" || problem.code === "deadline";
}

/**
 * Whether a POST takes no key, because a repeat changes nothing that the first has not: a question that is too long for a URL, what says the same when it
 * is said again, or a release of many claims, which says what bounds it.
 */
export function takesNoKey(request: Request): boolean {
  return request.method === "POST" && /\/(claim-explanations|claim-releases|consumer-renewals|expiry-confirmations|retries)$/.test(new URL(request.url).pathname);
}

/** Whether a request changes nothing, however often it is carried out. */
function isHarmless(request: Request): boolean {
  const dry = new URL(request.url).searchParams.get("dryRun") === "true";
  return request.method === "GET" || request.method === "HEAD" || dry || takesNoKey(request);
}

/** Whether a request may be carried out twice. */
export function isSafeTwice(request: Request): boolean {
  if (isHarmless(request)) return true;
  const tag = request.headers.get("If-Match");
  switch (request.method) {
    case "POST":
      return request.headers.has("Idempotency-Key");
    case "PUT": // says how something is to be; with a precondition, it would be refused for its own success
      return tag === null && !request.headers.has("If-None-Match");
    case "DELETE": // without a revision it would delete what was made under that name meanwhile
      return tag !== null && tag !== "*";
    case "PATCH": // of whichever revision: says how parts of it are to be
      return tag === "*";
    default:
      return false;
  }
}

/** Whether a request can be sent again at all. A POST without a key is sent once, whatever becomes of it. */
export function isRepeatable(request: Request): boolean {
  return request.method !== "POST" || isSafeTwice(request);
}

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Whether a request surely had no effect. A browser does not say, so there it may have had one. */
function neverLeft(failure: unknown): boolean {
  return unreachable.has(codeOf(failure));
}

/** Whether there is somebody who cannot be talked to: an unknown certificate, TLS with who has none. */
function strange(failure: unknown): boolean {
  return /^(CERT_|ERR_SSL_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(codeOf(failure));
}

/** fetch says "fetch failed"; what happened is in the cause. */
function codeOf(failure: unknown): string {
  for (let e = failure, depth = 0; e instanceof Error && depth < 4; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return e.code;
  }
  return "";
}
