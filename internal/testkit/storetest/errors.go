package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

func refusal(t testing.TB, err error) *ipam.Error {
	t.Helper()
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	return e
}

func retryAfter(t testing.TB, err error) time.Duration {
	t.Helper()
	return refusal(t, err).RetryAfter
}

// pointer returns the request field that a refusal names. The refusal must name exactly one field.
func pointer(t testing.TB, err error) string {
	t.Helper()
	fields := refusal(t, err).Fields
	require.Len(t, fields, 1)
	return fields[0].Pointer
}

// unique returns a list without duplicates.
func unique(refs []storage.NameRef) []storage.NameRef {
	var out []storage.NameRef
	for _, r := range refs {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
