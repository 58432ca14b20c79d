package gen_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

const problemJSON = "application/problem+json"

// mustAnswer is the least an operation lists, by what it takes.
func mustAnswer(op operation) []string {
	statuses := []string{"400", "406", "500"}
	if op.hosted() {
		return statuses
	}
	statuses = append(statuses, "401", "429", "504")
	if strings.HasPrefix(op.path, "/v1/projects") {
		statuses = append(statuses, "403", "503")
	}
	if op.has("path", "project") {
		statuses = append(statuses, "404")
	}
	if op.RequestBody != nil {
		statuses = append(statuses, "413", "415")
	}
	// A role alone cannot clash with anything but its values; an explanation answers 200, whatever it says of the claim.
	if op.RequestBody != nil && op.OperationID != "putMember" && op.OperationID != explains && !slices.Contains(needNoKey, op.OperationID) {
		statuses = append(statuses, "422")
	}
	if op.has("header", "If-Match") {
		statuses = append(statuses, "412")
	}
	switch {
	case op.OperationID == explains, op.method == http.MethodPost && slices.Contains(needNoKey, op.OperationID):
	case op.method == http.MethodPatch:
		statuses = append(statuses, "428")
	case op.method == http.MethodPost:
		statuses = append(statuses, "409")
	case op.method == http.MethodPut:
		if !slices.Contains([]string{"putQuota", "putPoolGrant", "putSpaceGrant"}, op.OperationID) { // nothing can stand in their way
			statuses = append(statuses, "409")
		}
	}
	if slices.Contains(ofAdmins, op.OperationID) {
		statuses = append(statuses, "409")
	}
	return statuses
}

// explains is the POST that writes nothing, so that there is nothing to try, to repeat or to clash with.
const explains = "explainClaim"

// needNoKey are the operations of which a repeat does what the first did: they need no key, and nothing of what they write is fixed.
var needNoKey = []string{"attachConsumer", "putConsumer", "renewConsumers", "confirmExpiry", "releaseClaims", "retryWebhookDelivery"}

// ofAdmins are the operations that can take the last admin of platform away.
var ofAdmins = []string{"putMember", "deleteMember", "deleteApiKey"}

func TestEveryOperationListsTheErrorsItCanAnswer(t *testing.T) {
	t.Parallel()
	for _, op := range operations(document(t)) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			for _, status := range mustAnswer(op) {
				require.NotNil(t, op.Responses.Value(status), "no %s", status)
			}
		})
	}
}

func TestEveryWriteCanBeTriedRepeatedAndGuarded(t *testing.T) {
	t.Parallel()
	for _, op := range operations(document(t)) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			writes := op.method != http.MethodGet && op.OperationID != explains
			require.Equal(t, writes, op.has("query", "dryRun"), "dryRun")
			require.Equal(t, writes && op.method == http.MethodPost && !slices.Contains(needNoKey, op.OperationID), op.has("header", "Idempotency-Key"), "Idempotency-Key")
			guarded := op.method == http.MethodPatch || op.method == http.MethodDelete || op.method == http.MethodPut
			require.Equal(t, guarded, op.has("header", "If-Match"), "If-Match")
			if op.method != http.MethodGet { // of reads, those whose entity tag is of the whole answer have it
				require.Equal(t, op.method == http.MethodPut, op.has("header", "If-None-Match"), "If-None-Match")
			}
			require.Equal(t, op.method == http.MethodGet && op.has("header", "If-None-Match"), op.Responses.Value("304") != nil, "304")
		})
	}
}

// problems lists every example of a problem document, by operation and status.
func problems(t *testing.T, doc *openapi3.T) map[string]gen.Problem {
	t.Helper()
	found := map[string]gen.Problem{}
	for _, op := range operations(doc) {
		for status, response := range op.Responses.Map() {
			if status < "400" {
				continue
			}
			body := response.Value.Content[problemJSON]
			require.NotNil(t, body, "%s %s is not a problem document", op.OperationID, status)
			require.Len(t, response.Value.Content, 1)
			require.Equal(t, "#/components/schemas/Problem", body.Schema.Ref)
			require.NotEmpty(t, body.Examples, "%s %s has no example", op.OperationID, status)
			for name, example := range body.Examples {
				raw, err := json.Marshal(example.Value.Value)
				require.NoError(t, err)
				var p gen.Problem
				require.NoError(t, json.Unmarshal(raw, &p))
				found[fmt.Sprintf("%s/%s/%s", op.OperationID, status, name)] = p
			}
		}
	}
	return found
}

func TestWhatTakesAdminsAwayCanRefuseTheLastOne(t *testing.T) {
	t.Parallel()
	var found []string
	for place, p := range problems(t, document(t)) {
		if p.Code == gen.ProblemCodeLastAdmin {
			found = append(found, strings.Split(place, "/")[0])
		}
	}
	require.ElementsMatch(t, ofAdmins, found)
}

func TestEveryErrorIsAProblemDocumentOfItsStatus(t *testing.T) {
	t.Parallel()
	for place, p := range problems(t, document(t)) {
		require.Equal(t, strings.Split(place, "/")[1], strconv.Itoa(p.Status), place)
		require.Equal(t, "/problems/"+string(p.Code), p.Type, place)
		require.True(t, p.Code.Valid(), place)
	}
}

func TestEveryCodeIsDocumentedWithItsStatus(t *testing.T) {
	t.Parallel()
	doc := document(t)
	schema := doc.Components.Schemas["ProblemCode"].Value

	documented := map[string]int{} // code -> status, as in the table of the description
	for line := range strings.SplitSeq(schema.Description, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		status, err := strconv.Atoi(strings.TrimSpace(cells[2]))
		require.NoError(t, err, line)
		require.NotEmpty(t, strings.TrimSpace(cells[3]), line)
		documented[strings.Trim(strings.TrimSpace(cells[1]), "`")] = status
	}

	shown := map[string]bool{}
	for place, p := range problems(t, doc) {
		require.Equal(t, documented[string(p.Code)], p.Status, place)
		shown[string(p.Code)] = true
	}

	var codes []string
	for _, value := range schema.Enum {
		code := value.(string)
		codes = append(codes, code)
		require.Contains(t, documented, code)
		// No operation answers method_not_allowed: it is for the methods that are not in the document.
		require.Equal(t, code != string(gen.ProblemCodeMethodNotAllowed), shown[code], "%s has no example", code)
	}
	require.Len(t, documented, len(codes))

	var known []string
	for _, code := range ipam.Codes() {
		known = append(known, string(code))
	}
	require.Equal(t, known, codes, "the contract and package ipam must know the same codes, in the same order")
}
