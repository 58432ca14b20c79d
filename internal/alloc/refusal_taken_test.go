package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// If a requested block is taken, the refusal names the object that holds it. It does so only for the project that owns this object.
func TestRefusalOfATakenBlockNamesTheOwnHolder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/20", reserving(ipam.Reservation{CIDR: block("10.0.0.0/28"), Reason: "gateways"})))
	b.pool(t, childAt("sub", "net", "10.0.1.0/24"))
	b.claim(t, claimOf("web", "net", exactly("10.0.2.0/24")))
	for cidr, want := range map[string]struct {
		held      string
		conflicts []string
	}{
		"10.0.0.0/24":   {"10.0.0.0/28 is reserved: gateways.", nil},
		"10.0.1.0/24":   {"10.0.1.0/24 is child pool acme/sub.", []string{"acme/sub"}},
		"10.0.2.0/23":   {"10.0.2.0/24 is held by claim acme/web.", []string{"acme/web"}},
		"10.0.2.128/25": {"it is allocated, at least in part.", nil},
	} {
		e := b.refuseClaim(t, claimOf("c", "net", exactly(cidr)), ipam.CodeBlockTaken)
		require.Contains(t, e.Message, want.held, cidr)
		require.Equal(t, want.conflicts, e.Figures.ConflictsWith, cidr)
	}
}
