package ipam

// Code is the machine-readable kind of a refusal. Clients depend on it, so its meaning never changes.
type Code string

// The codes. A table in package api maps them to HTTP statuses. Each code has a page at /problems/<code>.
const (
	CodeInvalidArgument      Code = "invalid_argument"
	CodeUnauthenticated      Code = "unauthenticated"
	CodePermissionDenied     Code = "permission_denied"
	CodeNotFound             Code = "not_found"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeNotAcceptable        Code = "not_acceptable"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeAlreadyExists        Code = "already_exists"
	CodeOverlap              Code = "overlap"
	CodeInUse                Code = "in_use"
	CodeAllocationRetained   Code = "allocation_retained"
	CodePoolExhausted        Code = "pool_exhausted"
	CodeExhaustedByCooldown  Code = "exhausted_by_cooldown"
	CodePoolDraining         Code = "pool_draining"
	CodeNoPoolMatches        Code = "no_pool_matches"
	CodeNoPoolForClass       Code = "no_pool_for_class"
	CodeNoDefaultClass       Code = "no_default_class"
	CodeBlockTaken           Code = "block_taken"
	CodeClaimReleased        Code = "claim_released"
	CodeQuotaExceeded        Code = "quota_exceeded"
	CodeLastAdmin            Code = "last_admin"
	CodeConsumerEnded        Code = "consumer_ended"
	CodeTooManyConsumers     Code = "too_many_consumers"
	CodeWebhooksDisabled     Code = "webhooks_disabled"
	CodeCursorExpired        Code = "cursor_expired"
	CodePreconditionFailed   Code = "precondition_failed"
	CodePreconditionRequired Code = "precondition_required"
	CodePayloadTooLarge      Code = "payload_too_large"
	CodeNeverSatisfiable     Code = "never_satisfiable"
	CodePrefixLengthRejected Code = "prefix_length_rejected"
	CodeFamilyMismatch       Code = "family_mismatch"
	CodeImmutableField       Code = "immutable_field"
	CodeIdempotencyMismatch  Code = "idempotency_mismatch"
	CodeRateLimited          Code = "rate_limited"
	CodeContention           Code = "contention"
	CodeOutcomeUnknown       Code = "outcome_unknown"
	CodeUnavailable          Code = "unavailable"
	CodeDeadline             Code = "deadline"
	CodeInternal             Code = "internal"
)

// Codes lists every code once, in the order of the contract.
func Codes() []Code {
	return []Code{
		CodeInvalidArgument, CodeUnauthenticated, CodePermissionDenied, CodeNotFound, CodeMethodNotAllowed,
		CodeNotAcceptable, CodeUnsupportedMediaType, CodeAlreadyExists, CodeOverlap, CodeInUse, CodeAllocationRetained,
		CodePoolExhausted, CodeExhaustedByCooldown, CodePoolDraining, CodeNoPoolMatches, CodeNoPoolForClass, CodeNoDefaultClass, CodeBlockTaken,
		CodeClaimReleased, CodeQuotaExceeded, CodeLastAdmin, CodeConsumerEnded, CodeTooManyConsumers, CodeWebhooksDisabled, CodeCursorExpired,
		CodePreconditionFailed, CodePreconditionRequired,
		CodePayloadTooLarge, CodeNeverSatisfiable, CodePrefixLengthRejected, CodeFamilyMismatch, CodeImmutableField,
		CodeIdempotencyMismatch, CodeRateLimited, CodeContention, CodeOutcomeUnknown, CodeUnavailable, CodeDeadline,
		CodeInternal,
	}
}
