package gen_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
)

const problemJSON = "application/problem+json"

// mustAnswer returns the statuses that an operation must list, because of its parameters and its body.
func mustAnswer(op operation) []int {
	statuses := []int{400, 406, 500}
	if op.hosted() {
		return statuses
	}
	statuses = append(statuses, 401, 429, 504)
	if strings.HasPrefix(op.path, "/v1/projects") {
		statuses = append(statuses, 403, 503)
	}
	if op.has("path", "project") {
		statuses = append(statuses, 404)
	}
	if op.RequestBody != nil {
		statuses = append(statuses, 413, 415)
	}
	// The schema checks the role of a member completely, so putMember never returns 422. An explanation returns 200 for any claim.
	if op.RequestBody != nil && op.OperationID != "putMember" && op.OperationID != explains && !slices.Contains(needNoKey, op.OperationID) {
		statuses = append(statuses, 422)
	}
	if op.has("header", "If-Match") {
		statuses = append(statuses, 412)
	}
	switch {
	case op.OperationID == explains, op.method == http.MethodPost && slices.Contains(needNoKey, op.OperationID):
	case op.method == http.MethodPatch:
		statuses = append(statuses, 428)
	case op.method == http.MethodPost:
		statuses = append(statuses, 409)
	case op.method == http.MethodPut:
		if !slices.Contains([]string{"putPoolGrant", "putSpaceGrant"}, op.OperationID) { // these operations conflict with no existing object
			statuses = append(statuses, 409)
		}
	}
	return statuses
}

// explains is a POST that writes nothing. So it has no dry run, no idempotency key and no conflict.
const explains = "explainClaim"

// needNoKey are the operations that may be repeated without an idempotency key, because a repetition changes nothing. They write no immutable field.
var needNoKey = []string{"attachConsumer", "putConsumer", "renewConsumers", "confirmExpiry", "releaseClaims", "retryWebhookDelivery"}

// ofAdmins are the operations that can remove the last admin of the project platform.
var ofAdmins = []string{"putMember", "deleteMember", "deleteApiKey"}

// refusals returns the error codes that an operation lists.
func (op operation) refusals() (codes []gen.ProblemCode) {
	for _, code := range op.Extensions["x-problems"].([]any) {
		codes = append(codes, gen.ProblemCode(code.(string)))
	}
	return codes
}

func TestEveryOperationListsTheErrorsItCanReturn(t *testing.T) {
	t.Parallel()
	doc := document(t)
	codes := documented(t, doc)
	for _, op := range operations(doc) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			listed := map[int]bool{}
			for _, code := range op.refusals() {
				require.Contains(t, codes, string(code))
				listed[codes[string(code)]] = true
			}
			for _, status := range mustAnswer(op) {
				require.True(t, listed[status], "no code of %d", status)
			}
			for status, answer := range op.Responses.Map() {
				require.True(t, status < "400" || status == "default", "%s: all refusals have one answer", status)
				require.Equal(t, status == "default", answer.Ref == "#/components/responses/Problem", status)
			}
			require.NotNil(t, op.Responses.Default())
			// An operation without an idempotency key cannot return the errors about a key that belongs to another request or to a released claim.
			keyed := op.has("header", "Idempotency-Key")
			require.Equal(t, keyed, slices.Contains(op.refusals(), gen.ProblemCodeIdempotencyMismatch))
			require.True(t, keyed || !slices.Contains(op.refusals(), gen.ProblemCodeClaimReleased))
			require.Equal(t, slices.Contains(ofAdmins, op.OperationID), slices.Contains(op.refusals(), gen.ProblemCodeLastAdmin))
		})
	}
}

// everywhere are the error codes that the operations need not describe, because they mean the same everywhere.
var everywhere = []gen.ProblemCode{
	"invalid_argument", "unauthenticated", "permission_denied", "not_found", "not_acceptable", "precondition_failed", "payload_too_large",
	"unsupported_media_type", "idempotency_mismatch", "precondition_required", "rate_limited", "internal", "contention", "outcome_unknown",
	"unavailable", "deadline",
}

// asClaims are the operations with the same errors as createClaim. The description of createClaim explains these errors.
var asClaims = []string{"putClaim", "createClaimBatch", "putScopePool"}

func TestEveryOperationDescribesItsRefusals(t *testing.T) {
	t.Parallel()
	for _, op := range operations(document(t)) {
		for _, code := range op.refusals() {
			if !slices.Contains(everywhere, code) && !slices.Contains(asClaims, op.OperationID) {
				require.Contains(t, op.Description, "`"+string(code)+"`", op.OperationID)
			}
		}
	}
}

func TestEveryWriteHasDryRunKeyAndPrecondition(t *testing.T) {
	t.Parallel()
	for _, op := range operations(document(t)) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			writes := op.method != http.MethodGet && op.OperationID != explains
			require.Equal(t, writes, op.has("query", "dryRun"), "dryRun")
			require.Equal(t, writes && op.method == http.MethodPost && !slices.Contains(needNoKey, op.OperationID), op.has("header", "Idempotency-Key"), "Idempotency-Key")
			guarded := op.method == http.MethodPatch || op.method == http.MethodDelete || op.method == http.MethodPut
			require.Equal(t, guarded, op.has("header", "If-Match"), "If-Match")
			if op.method != http.MethodGet { // a read has If-None-Match only if its entity tag covers the whole response
				require.Equal(t, op.method == http.MethodPut, op.has("header", "If-None-Match"), "If-None-Match")
			}
			require.Equal(t, op.method == http.MethodGet && op.has("header", "If-None-Match"), op.Responses.Value("304") != nil, "304")
		})
	}
}

// problems returns all examples of the Problem response.
func problems(t *testing.T, doc *openapi3.T) map[string]gen.Problem {
	t.Helper()
	content := doc.Components.Responses["Problem"].Value.Content
	require.Len(t, content, 1)
	body := content[problemJSON]
	require.NotNil(t, body)
	require.Equal(t, "#/components/schemas/Problem", body.Schema.Ref)
	found := map[string]gen.Problem{}
	for name, example := range body.Examples {
		raw, err := json.Marshal(example.Value.Value)
		require.NoError(t, err)
		var p gen.Problem
		require.NoError(t, json.Unmarshal(raw, &p))
		found[name] = p
	}
	return found
}

// documented returns the status of each error code, from the table in the contract.
func documented(t *testing.T, doc *openapi3.T) map[string]int {
	t.Helper()
	codes := map[string]int{}
	for line := range strings.SplitSeq(doc.Components.Schemas["ProblemCode"].Value.Description, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		status, err := strconv.Atoi(strings.TrimSpace(cells[2]))
		require.NoError(t, err, line)
		require.NotEmpty(t, strings.TrimSpace(cells[3]), line)
		codes[strings.Trim(strings.TrimSpace(cells[1]), "`")] = status
	}
	return codes
}

func TestEveryCodeIsDocumentedWithStatusAndExample(t *testing.T) {
	t.Parallel()
	doc := document(t)
	statuses := documented(t, doc)
	answered := map[string]bool{}
	for _, op := range operations(doc) {
		for _, code := range op.refusals() {
			answered[string(code)] = true
		}
	}
	shown := map[string]bool{}
	for name, p := range problems(t, doc) {
		require.Equal(t, statuses[string(p.Code)], p.Status, name)
		require.Equal(t, "/problems/"+string(p.Code), p.Type, name)
		shown[string(p.Code)] = true
	}
	var codes []string
	for _, value := range doc.Components.Schemas["ProblemCode"].Value.Enum {
		code := value.(string)
		codes = append(codes, code)
		require.Contains(t, statuses, code)
		// The code method_not_allowed is for methods that are not in the contract. So no operation lists it.
		require.Equal(t, code != string(gen.ProblemCodeMethodNotAllowed), shown[code], "%s has no example", code)
		require.Equal(t, code != string(gen.ProblemCodeMethodNotAllowed), answered[code], "no operation answers %s", code)
	}
	require.Len(t, statuses, len(codes))
}
