package cli_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test changes NetBox at random and kills the mirror at random. After a complete pass, Carve has the content of NetBox and the claims of other
// users.
func TestRepeatedlyKilledMirrorConverges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			d, b := shadowed(t)
			r := rand.New(rand.NewPCG(seed, 7))
			d.done("claim", "create", "mine", "--pool", "10-5-0-0-16", "--address", "10.5.200.1")
			server := d.env["CARVE_SERVER"]
			prefixes := map[string]bool{}
			for round := range 4 {
				for range 25 {
					b.change(r, prefixes)
				}
				for range r.IntN(4) {
					url, ctx, over := killing(t, server, r.Int32N(6))
					d.env["CARVE_SERVER"] = url
					d.runUntil(ctx, io.Discard, io.Discard, "shadow", "mirror", "netbox", "--url", b.URL, "--allow-removals")
					over()
					d.env["CARVE_SERVER"] = server
				}
				out := d.mirror(b, 4, "--allow-removals")
				require.Contains(t, out, "10.5.200.1 missing there: only here", "round %d", round)
				require.Equal(t, []string{"10.5.200.1 missing there: only here"}, d.mirror(b, 4, "--allow-removals"), "nothing is left to do")
				want := b.addresses()
				require.Equal(t, append(want, "10.5.200.1/32"), d.held(), "round %d", round)
				require.Contains(t, d.done("audit").out, "audit clean")
			}
		})
	}
}

// change makes one random change in NetBox.
func (b *netbox) change(r *rand.Rand, prefixes map[string]bool) {
	address := fmt.Sprintf("10.0.%d.%d", 1+r.IntN(3), 1+r.IntN(20))
	prefix := fmt.Sprintf("10.0.%d.%d/28", 1+r.IntN(3), 16*r.IntN(2))
	b.remove(address)
	switch r.IntN(5) {
	case 0:
	case 1:
		b.add(address, "", fmt.Sprintf("host-%d", r.IntN(10)))
		b.edit(address, "status", map[string]any{"value": []string{"dhcp", "active"}[r.IntN(2)]})
	case 2:
		b.remove(prefix)
		if prefixes[prefix] = !prefixes[prefix]; prefixes[prefix] {
			b.add(prefix, "", "Some")
		}
	default:
		b.add(address, "", "")
	}
}
