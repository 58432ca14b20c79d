package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func entries(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":"v"`, i)
	}
	return strings.TrimPrefix(b.String(), ",")
}

// The check of a body with too many entries stops at the first entry beyond the limit.
func TestBodyIsRefusedAtTheFirstExcessEntry(t *testing.T) {
	t.Parallel()
	many := entries(40_000)
	for name, c := range map[string]struct{ body, pointer, detail string }{
		"Annotations":        {`{"metadata":{"name":"c","annotations":{` + many + `}}}`, "/metadata/annotations", "must have at most 128 entries."},
		"LabelsOfABatch":     {`{"claims":[{"metadata":{"labels":{` + many + `}}}]}`, "/claims/0/metadata/labels", "must have at most 128 entries."},
		"Claims":             {`{"claims":[{}` + strings.Repeat(",{}", 60_000) + `]}`, "/claims", "must have at most 1000 items."},
		"Reservations":       {`{"spec":{"reservations":[1` + strings.Repeat(",1", 60_000) + `]}}`, "/spec/reservations", "must have at most 64 items."},
		"UnknownField":       {`{"spec":{"x":{` + many + `}}}`, "/spec/x", "must have at most 1024 entries."},
		"TheBodyItself":      {`{` + many + `}`, "", "must have at most 1024 entries."},
		"ItemsWithoutAName":  {`{"claims":[[1` + strings.Repeat(",1", 60_000) + `]]}`, "/claims/0", "must have at most 1024 items."},
		"NumbersAreNoNames":  {`{"annotations":[{` + entries(1025) + `}]}`, "/annotations/0", "must have at most 1024 entries."},
		"NestedInAnEntry":    {`{"metadata":{"annotations":{` + entries(128) + `,"o":{"a":1}}}}`, "/metadata/annotations", "must have at most 128 entries."},
		"NotBeforeTheExcess": {`{"metadata":{"annotations":{` + entries(128) + `}}, "x":}`, "/x", "is not valid JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkJSON([]byte(c.body), bodySizes())
			e := &ipam.Error{}
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.pointer, e.Fields[0].Pointer)
			require.Contains(t, e.Fields[0].Detail, c.detail)
		})
	}
}

// The decoder also stops there. So the number of bytes that it reads does not depend on the rest of the body.
func TestNothingIsReadAfterTheFirstExcessEntry(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1000, 40_000} {
		body := `{"metadata":{"annotations":{` + entries(n) + `}}}`
		w := jsonWalk{decoder: jsontext.NewDecoder(strings.NewReader(body)), sizes: bodySizes()}
		tokens := 0
		for ; ; tokens++ {
			token, err := w.decoder.ReadToken()
			require.NoError(t, err)
			if w.check(token) != nil {
				break
			}
		}
		require.Less(t, tokens, 2*129+6)
		require.Less(t, w.decoder.InputOffset(), int64(2000))
	}
}
