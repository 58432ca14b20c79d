package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestReferenceFilters(t *testing.T) {
	t.Parallel()
	name, full := "p", "b/p"
	require.Equal(t, ipam.Ref{}, refFilter("a", nil))
	require.Equal(t, ipam.Ref{Project: "a", Name: "p"}, refFilter("a", &name))
	require.Equal(t, ipam.Ref{Project: "b", Name: "p"}, refFilter("a", &full))
}
