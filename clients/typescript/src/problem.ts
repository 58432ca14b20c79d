import type { components } from "./schema.js";

/** A refusal: a problem document (RFC 9457) with a code and the figures of the code. */
export type Problem = components["schemas"]["Problem"];

/** The kind of a refusal. A code never changes its meaning; a later server may send codes that are not here. */
export type ProblemCode = components["schemas"]["ProblemCode"];

/** The figures that every refusal with a code has. A refusal may have more. */
interface Figures {
  exhausted_by_cooldown: "wantedPrefixLength";
  pool_exhausted: "wantedPrefixLength" | "availableAddresses";
  quota_exceeded: "limit" | "used" | "requested";
}

/** A refusal with one of some codes. Checking `code` narrows it to the figures of that code. */
export type ProblemOf<C extends ProblemCode = ProblemCode> = C extends keyof Figures
  ? Problem & { code: C } & Required<Pick<Problem, Figures[C]>>
  : Problem & { code: C };

/** Every code of this version of the contract. The compiler reports a missing or unknown code. */
export const problemCodes = Object.keys({
  allocation_retained: true,
  already_exists: true,
  block_taken: true,
  claim_released: true,
  consumer_ended: true,
  contention: true,
  cursor_expired: true,
  deadline: true,
  exhausted_by_cooldown: true,
  family_mismatch: true,
  idempotency_mismatch: true,
  immutable_field: true,
  in_use: true,
  internal: true,
  invalid_argument: true,
  last_admin: true,
  method_not_allowed: true,
  never_satisfiable: true,
  no_default_class: true,
  no_pool_for_class: true,
  no_pool_matches: true,
  not_acceptable: true,
  not_found: true,
  outcome_unknown: true,
  overlap: true,
  payload_too_large: true,
  permission_denied: true,
  pool_draining: true,
  pool_exhausted: true,
  precondition_failed: true,
  precondition_required: true,
  prefix_length_rejected: true,
  quota_exceeded: true,
  rate_limited: true,
  too_many_consumers: true,
  webhooks_disabled: true,
  unauthenticated: true,
  unavailable: true,
  unsupported_media_type: true,
} satisfies Record<ProblemCode, true>) as readonly ProblemCode[];

/** Reads a problem document. A response that is not one does not come from Carve. */
export function readProblem(answer: Whole): Problem | undefined {
  if (answer.mediaType !== "application/problem+json") return undefined;
  try {
    const read: unknown = JSON.parse(answer.text());
    return isProblemDocument(read) ? read : undefined;
  } catch {
    return undefined;
  }
}

function isProblemDocument(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && typeof value.code === "string" && value.code !== "";
}

/** A response whose body is in memory. */
export class Whole {
  readonly mediaType: string;

  constructor(
    readonly response: Response,
    readonly bytes: ArrayBuffer,
  ) {
    this.mediaType = (response.headers.get("Content-Type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
  }

  text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** The same response as a Response with an unread body. */
  again(status = this.response.status): Response {
    const empty = status === 204 || status === 304;
    return new Response(empty ? null : this.bytes, { status, headers: this.response.headers });
  }
}
