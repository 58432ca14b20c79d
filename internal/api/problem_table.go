package api

import (
	"cmp"
	"maps"
	"net/http"
	"slices"

	"github.com/carve-ipam/carve/internal/api/pages"
	"github.com/carve-ipam/carve/internal/ipam"
)

// kind is the status and title of a code.
type kind struct {
	status int
	title  string
}

// kinds is the only place that maps codes to statuses. A full pool is 409, because it happens to customers in normal use, and the server is not at
// fault.
var kinds = map[ipam.Code]kind{
	ipam.CodeInvalidArgument:      {http.StatusBadRequest, "The request is not valid"},
	ipam.CodeUnauthenticated:      {http.StatusUnauthorized, "No valid credentials"},
	ipam.CodePermissionDenied:     {http.StatusForbidden, "Not allowed"},
	ipam.CodeNotFound:             {http.StatusNotFound, "Not found"},
	ipam.CodeMethodNotAllowed:     {http.StatusMethodNotAllowed, "The path has no such method"},
	ipam.CodeNotAcceptable:        {http.StatusNotAcceptable, "No acceptable media type"},
	ipam.CodeAlreadyExists:        {http.StatusConflict, "It exists already"},
	ipam.CodeOverlap:              {http.StatusConflict, "It overlaps"},
	ipam.CodeInUse:                {http.StatusConflict, "It is in use"},
	ipam.CodeAllocationRetained:   {http.StatusConflict, "A retained allocation holds it"},
	ipam.CodePoolExhausted:        {http.StatusConflict, "Nothing large enough is free"},
	ipam.CodeExhaustedByCooldown:  {http.StatusConflict, "What is large enough is cooling down"},
	ipam.CodePoolDraining:         {http.StatusConflict, "The pool is being drained"},
	ipam.CodeNoPoolMatches:        {http.StatusConflict, "No pool matches"},
	ipam.CodeNoPoolForClass:       {http.StatusConflict, "No pool for the class"},
	ipam.CodeNoDefaultClass:       {http.StatusConflict, "No default class"},
	ipam.CodeBlockTaken:           {http.StatusConflict, "The block is not free"},
	ipam.CodeClaimReleased:        {http.StatusConflict, "The claim of this key was released"},
	ipam.CodeQuotaExceeded:        {http.StatusConflict, "Over the quota"},
	ipam.CodeLastAdmin:            {http.StatusConflict, "The last admin"},
	ipam.CodeConsumerEnded:        {http.StatusConflict, "The consumer has ended"},
	ipam.CodeTooManyConsumers:     {http.StatusConflict, "As many consumers as it can have"},
	ipam.CodeWebhooksDisabled:     {http.StatusConflict, "The server sends no webhooks"},
	ipam.CodeCursorExpired:        {http.StatusGone, "The cursor has expired"},
	ipam.CodePreconditionFailed:   {http.StatusPreconditionFailed, "The precondition does not hold"},
	ipam.CodePayloadTooLarge:      {http.StatusRequestEntityTooLarge, "The body is too large"},
	ipam.CodeUnsupportedMediaType: {http.StatusUnsupportedMediaType, "Unsupported media type"},
	ipam.CodeNeverSatisfiable:     {http.StatusUnprocessableEntity, "It can never fit"},
	ipam.CodePrefixLengthRejected: {http.StatusUnprocessableEntity, "The bounds refuse this length"},
	ipam.CodeFamilyMismatch:       {http.StatusUnprocessableEntity, "Another address family"},
	ipam.CodeImmutableField:       {http.StatusUnprocessableEntity, "The field never changes"},
	ipam.CodeIdempotencyMismatch:  {http.StatusUnprocessableEntity, "The key belongs to another request"},
	ipam.CodePreconditionRequired: {http.StatusPreconditionRequired, "If-Match is missing"},
	ipam.CodeRateLimited:          {http.StatusTooManyRequests, "Too many requests"},
	ipam.CodeInternal:             {http.StatusInternalServerError, "A fault of the server"},
	ipam.CodeContention:           {http.StatusServiceUnavailable, "Too many writers met"},
	ipam.CodeOutcomeUnknown:       {http.StatusServiceUnavailable, "The outcome is not known"},
	ipam.CodeUnavailable:          {http.StatusServiceUnavailable, "Not available now"},
	ipam.CodeDeadline:             {http.StatusGatewayTimeout, "The deadline passed"},
}

// problemRows returns the table for the docs page, sorted by status.
func problemRows() []pages.Row {
	rows := make([]pages.Row, 0, len(kinds))
	for _, code := range slices.Sorted(maps.Keys(kinds)) {
		rows = append(rows, pages.Row{Status: kinds[code].status, Code: code, Title: kinds[code].title})
	}
	slices.SortStableFunc(rows, func(a, b pages.Row) int { return cmp.Compare(a.Status, b.Status) })
	return rows
}
