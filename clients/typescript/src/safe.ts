import { readProblem, type Whole } from "./problem.js";

/** The outcome of one attempt. */
export type Outcome = { readonly answer: Whole } | { readonly failure: unknown };

/** Returns the reason why a retry may succeed, or undefined. */
export function worthRepeating(outcome: Outcome): string | undefined {
  if ("failure" in outcome) {
    if (strange(outcome.failure)) return undefined;
    if (outcome.failure instanceof DOMException && outcome.failure.name === "TimeoutError") return "there was no answer in time";
    return neverLeft(outcome.failure) ? "the server cannot be reached" : "the connection was lost";
  }
  const { status } = outcome.answer.response;
  if (status === 503 || status === 429) return `the server said ${status}, not now`;
  // Carve's own 504 has used up the request's deadline; a retry would too. The 504 of a proxy means that it lost its server.
  if ((status === 502 || status === 504) && readProblem(outcome.answer) === undefined) return `something before the server said ${status}`;
  return undefined;
}

/** Reports whether, after one more attempt, it is still unknown whether the server carried out the request. */
export function stillOpen(before: boolean, request: Request, outcome: Outcome): boolean {
  if (isHarmless(request)) return false;
  if ("failure" in outcome) return before || !(neverLeft(outcome.failure) || strange(outcome.failure));
  const { status } = outcome.answer.response;
  if (mayBeDone(outcome.answer)) return true;
  if (status >= 500 || status === 429) return before; // this attempt was not carried out, but an earlier one may have been
  if (status < 300) return false;
  // A retry with a key or a name returns the outcome of the first attempt. A failed precondition does not reveal it.
  // Nor does a POST without a key: a release fails once another claim matches, a dead letter is gone once the server has sent it, and a renewal or a
  // confirmation fails once the caller lacks the right. None of these refusals undoes the first attempt.
  return before && (!isSafeTwice(request) || takesNoKey(request) || request.method === "DELETE");
}

/**
 * Reports whether a response leaves open if the request was carried out: the server reports it so, or a proxy in front of the server lost the
 * request.
 */
function mayBeDone(answer: Whole): boolean {
  if (![502, 503, 504].includes(answer.response.status)) return false;
  const problem = readProblem(answer);
  return problem === undefined || problem.code === "outcome_unknown" || problem.code === "deadline";
}

/**
 * Reports whether a POST takes no key, because repeating it changes nothing more: a query that is too long for a URL, an idempotent operation, or a
 * release of many claims, which a token or createdBefore bounds.
 */
export function takesNoKey(request: Request): boolean {
  return request.method === "POST" && /\/(claim-explanations|claim-releases|consumer-renewals|expiry-confirmations|retries)$/.test(new URL(request.url).pathname);
}

/** Reports whether a request changes nothing. */
function isHarmless(request: Request): boolean {
  const { pathname, searchParams } = new URL(request.url);
  const explains = request.method === "POST" && pathname.endsWith("/claim-explanations");
  return request.method === "GET" || request.method === "HEAD" || searchParams.get("dryRun") === "true" || explains;
}

/** Reports whether the server may carry out a request twice. */
export function isSafeTwice(request: Request): boolean {
  if (isHarmless(request) || takesNoKey(request)) return true;
  const tag = request.headers.get("If-Match");
  switch (request.method) {
    case "POST":
      return request.headers.has("Idempotency-Key");
    case "PUT": // sets the whole object; with a precondition, its own success would make a retry fail
      return tag === null && !request.headers.has("If-None-Match");
    case "DELETE": // without a revision, a retry could delete an object created under that name since
      return tag !== null && tag !== "*";
    case "PATCH": // sets parts of the object whatever its revision
      return tag === "*";
    default:
      return false;
  }
}

/** Reports whether a request can be sent again at all. A POST without a key is sent only once. */
export function isRepeatable(request: Request): boolean {
  return request.method !== "POST" || isSafeTwice(request);
}

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Reports whether a request certainly had no effect. A browser does not reveal that, so there the request may have had one. */
function neverLeft(failure: unknown): boolean {
  return unreachable.has(codeOf(failure));
}

/** Reports whether the client cannot talk to the server at all: its certificate is not trusted, or it does not speak TLS. */
function strange(failure: unknown): boolean {
  return /^(CERT_|ERR_SSL_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(codeOf(failure));
}

/** The message of fetch is only "fetch failed"; a cause has the code. */
function codeOf(failure: unknown): string {
  for (let e = failure, depth = 0; e instanceof Error && depth < 4; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return e.code;
  }
  return "";
}
