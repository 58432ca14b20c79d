import { readProblem, type ProblemCode, type Whole } from "./problem.js";

/** The outcome of one attempt. */
export type Outcome = { readonly answer: Whole } | { readonly failure: unknown };

/** Returns the reason why a retry may succeed, or undefined. */
export function shouldRetry(outcome: Outcome): string | undefined {
  if ("failure" in outcome) {
    if (cannotConnect(outcome.failure)) return undefined;
    if (outcome.failure instanceof DOMException && outcome.failure.name === "TimeoutError") return "there was no response in time";
    return notSent(outcome.failure) ? "the server cannot be reached" : "the connection was lost";
  }
  const { status } = outcome.answer.response;
  if (status === 503 || status === 429) return `the server responded ${status} and asked to wait`;
  // Carve's own 504 has used up the request's deadline; a retry would too. The 504 of a proxy means that it lost its server.
  if ((status === 502 || status === 504) && readProblem(outcome.answer) === undefined) return `a proxy responded ${status}`;
  return undefined;
}

/**
 * Reports whether, after one more attempt, it is still unknown whether the server carried out the request. Only a success of the contract and a
 * refusal by Carve settle it.
 */
export function outcomeUnknown(before: boolean, request: Request, outcome: Outcome): boolean {
  if (isReadOnly(request)) return false;
  if ("failure" in outcome) return before || !(notSent(outcome.failure) || cannotConnect(outcome.failure));
  if (succeeded(request, outcome.answer)) return false;
  const { status } = outcome.answer.response;
  const problem = readProblem(outcome.answer);
  if (problem !== undefined && status >= 400) return outcomeUnknownAfterRefusal(before, request, problem.code, status);
  // The response of a proxy or another server. Its 3xx and 4xx mean that it did not pass this attempt on. Behind any other status, Carve may have
  // carried out the request.
  return before || status < 300 || status >= 500;
}

/** Reports whether it is still unknown, after a refusal by Carve, whether the server carried out the request. */
function outcomeUnknownAfterRefusal(before: boolean, request: Request, code: ProblemCode, status: number): boolean {
  if (code === "outcome_unknown" || code === "deadline") return true;
  if (status >= 500 || status === 429) return before; // this attempt was not carried out, but an earlier one may have been
  if (status === 401 || status === 403 || status === 404) return before; // the caller may have lost its access since an earlier attempt
  // A retry with a key or a name returns the outcome of the first attempt. A failed precondition does not reveal it.
  // Nor does a POST without a key: a release fails once another claim matches, a dead letter is gone once the server has sent it, and a confirmation
  // fails once the project has confirmed 100 realms. None of these refusals undoes the first attempt.
  return before && (!isIdempotent(request) || takesNoKey(request) || request.method === "DELETE");
}

/** Reports whether a response is the success that the contract defines for the request. */
export function succeeded(request: Request, answer: Whole): boolean {
  const isJson = answer.mediaType === "application/json";
  switch (answer.response.status) {
    case 200:
      return isJson && request.method !== "DELETE" && (request.method !== "POST" || takesNoKey(request));
    case 201:
      return isJson && (request.method === "PUT" || (request.method === "POST" && !takesNoKey(request)));
    case 202:
      return isJson && request.method === "DELETE";
    case 204:
      return request.method === "DELETE";
    default:
      return false;
  }
}

/**
 * Reports whether a POST takes no key, because repeating it changes nothing more: a query that is too long for a URL, an idempotent operation, or a
 * release of many claims, which a token or createdBefore bounds.
 */
export function takesNoKey(request: Request): boolean {
  return request.method === "POST" && /\/(claim-explanations|claim-releases|consumer-renewals|expiry-confirmations|retries)$/.test(new URL(request.url).pathname);
}

/** Reports whether a request changes nothing. */
function isReadOnly(request: Request): boolean {
  const { pathname, searchParams } = new URL(request.url);
  const explains = request.method === "POST" && pathname.endsWith("/claim-explanations");
  return request.method === "GET" || request.method === "HEAD" || searchParams.get("dryRun") === "true" || explains;
}

/** Reports whether the server may carry out a request twice. */
export function isIdempotent(request: Request): boolean {
  if (isReadOnly(request) || takesNoKey(request)) return true;
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
export function canResend(request: Request): boolean {
  return request.method !== "POST" || isIdempotent(request);
}

const unreachable = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

/** Reports whether a request certainly had no effect. A browser does not reveal that, so there the request may have had one. */
function notSent(failure: unknown): boolean {
  return unreachable.has(codeOf(failure));
}

/** Reports whether the client cannot talk to the server at all: its certificate is not trusted, or it does not speak TLS. */
function cannotConnect(failure: unknown): boolean {
  return /^(CERT_|ERR_SSL_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/.test(codeOf(failure));
}

/** The message of fetch is only "fetch failed"; a cause has the code. */
function codeOf(failure: unknown): string {
  for (let e = failure, depth = 0; e instanceof Error && depth < 4; e = e.cause, depth++) {
    if ("code" in e && typeof e.code === "string") return e.code;
  }
  return "";
}
