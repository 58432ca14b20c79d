package claims

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// If a batch refuses a claim, the message and the field pointer must name the same field.
func TestBatchRefusalNamesTheFieldInItsMessage(t *testing.T) {
	t.Parallel()
	alone := ipam.Invalid("/spec/prefixLength", "is required: the pool has no default.")
	e, ok := inItem(alone, 3).(*ipam.Error) //nolint:errorlint // the refusal itself
	require.True(t, ok)
	require.Equal(t, "/claims/3/spec/prefixLength", e.Fields[0].Pointer)
	require.Equal(t, "The request is not valid: /claims/3/spec/prefixLength is required: the pool has no default.", e.Message)
	require.Equal(t, "The request is not valid: /spec/prefixLength is required: the pool has no default.", alone.Message, "that of the claim alone is as it was")
}
