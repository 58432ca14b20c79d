package claims

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The long texts in a tenant's claims must not fill a server's memory.
func TestClaimsWithLongTextsAreNotCached(t *testing.T) {
	t.Parallel()
	much := map[string]string{"text": strings.Repeat("x", maxClaimText)}
	for name, c := range map[string]ipam.Claim{
		"Labels":      {Metadata: ipam.Metadata{Labels: much}},
		"Annotations": {Metadata: ipam.Metadata{Annotations: much}},
		"Scope":       {Spec: ipam.ClaimSpec{Scope: much}},
		"Selector":    {Spec: ipam.ClaimSpec{PoolSelector: &ipam.Selector{}}},
	} {
		m := NewCache()
		m.putClaim(c)
		require.Zero(t, m.claims.Len(), name)
	}
	m := NewCache()
	m.putClaim(ipam.Claim{Metadata: ipam.Metadata{Labels: map[string]string{"app": "web"}}})
	require.Equal(t, 1, m.claims.Len())
}
