package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// refusedAsFull checks a refusal because of a fixed limit: it has the same code and the same figures for every kind of object.
func refusedAsFull(t testing.TB, err error, limit string) *ipam.Error {
	t.Helper()
	e := refused(t, err, ipam.CodeQuotaExceeded)
	require.Equal(t, []string{limit, limit, "1"}, []string{e.Figures.Limit, e.Figures.Used, e.Figures.Requested})
	require.Contains(t, e.Message, ", the maximum. ")
	return e
}
