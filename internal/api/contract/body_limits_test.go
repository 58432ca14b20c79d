package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":"v"`, i)
	}
	return strings.TrimPrefix(b.String(), ",")
}

// bodyOf returns the contract and the schema of an operation's body.
func bodyOf(t *testing.T, path, method string) (*Contract, *openapi3.Schema) {
	t.Helper()
	k, err := Load()
	require.NoError(t, err)
	return k, k.Methods("/v1/projects/:project/" + path)[method].body
}

func TestBodyIsRefusedAtTheFirstExcessEntry(t *testing.T) {
	t.Parallel()
	many := entries(40_000)
	for name, c := range map[string]struct{ path, body, pointer, detail string }{
		"Annotations":       {"claims", `{"metadata":{"name":"c","annotations":{` + many + `}}}`, "/metadata/annotations", "must have at most 64 entries."},
		"LabelsOfABatch":    {"claim-batches", `{"claims":[{"metadata":{"labels":{` + many + `}}}]}`, "/claims/0/metadata/labels", "must have at most 64 entries."},
		"Claims":            {"claim-batches", `{"claims":[{"metadata":{},"spec":{}}` + strings.Repeat(`,{"metadata":{},"spec":{}}`, 1000) + `]}`, "/claims", "must have at most 1000 items."},
		"Reservations":      {"pools", `{"spec":{"reservations":[{}` + strings.Repeat(",{}", 60_000) + `]}}`, "/spec/reservations", "must have at most 64 items."},
		"BeforeWrongSyntax": {"claims", `{"metadata":{"annotations":{` + entries(65) + `}}, "x":}`, "/metadata/annotations", "must have at most 64 entries."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, s := bodyOf(t, c.path, "POST")
			fields, err := k.checkBody(s, []byte(c.body))
			require.NoError(t, err)
			require.Len(t, fields, 1)
			require.Equal(t, c.pointer, fields[0].Pointer)
			require.Equal(t, c.detail, fields[0].Detail)
		})
	}
}

// So the number of bytes that the decoder reads does not depend on the rest of the body.
func TestNothingIsReadAfterEnoughFaults(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"ExcessEntries":  `{"metadata":{"annotations":{` + entries(40_000) + `}}}`,
		"UnknownMembers": `{` + entries(40_000) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, s := bodyOf(t, "claims", "POST")
			w := walk{Decoder: jsontext.NewDecoder(strings.NewReader(body)), contract: k}
			require.ErrorIs(t, w.value(s), errEnough)
			require.Less(t, w.tokens, 2*65+6)
			require.Less(t, w.InputOffset(), int64(2000))
		})
	}
}
