package e2e

import (
	"encoding/csv"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// awsRanges returns the public prefixes of a cloud provider. Some prefixes contain others.
func awsRanges(t testing.TB) []netip.Prefix {
	t.Helper()
	file, err := os.Open(realInput(t, "aws-ip-ranges.csv"))
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	var out []netip.Prefix
	for _, row := range rows[1:] {
		out = append(out, netip.MustParsePrefix(row[0]))
	}
	require.Len(t, out, 11013)
	return out
}

func TestCloudRanges(t *testing.T) {
	t.Parallel()
	ranges := awsRanges(t)
	plan := forest(ranges)
	l, w := newLoader(t)
	asPlanned := func(prefix string, wanted func(i int, n *node) bool) (n int) {
		for depth := 0; ; depth++ { // parents before children
			var jobs []job
			deeper := false
			for i, n := range plan {
				deeper = deeper || n.depth > depth
				if n.depth == depth && wanted(i, n) {
					jobs = append(jobs, l.pool(t, prefix+n.name(), "default", n.parent.name(), client.IPPoolSpec{CIDR: n.block.String()}))
				}
			}
			l.load(t, jobs)
			if n += len(jobs); !deeper {
				return n
			}
		}
	}
	everything := func(int, *node) bool { return true }

	t.Run("LoadAsRootsAndTheirChildren", func(t *testing.T) {
		asPlanned("", everything)
		loaded, refused := l.reset()
		t.Logf("loaded %v, refused %v", loaded, refused)
		require.Equal(t, len(ranges), total(loaded)+total(refused), "loaded and refused is all")
		require.Empty(t, refused, "no two are the same block")
		var want, have []string
		for _, block := range ranges {
			want = append(want, block.String())
		}
		for _, p := range all[client.IPPool](t, w.caller, at("pools")) {
			have = append(have, p.Status.AllocatedCIDR)
		}
		slices.Sort(want)
		slices.Sort(have)
		require.Equal(t, want, have)
	})
	t.Run("ASecondLoadIsRefusedAndChangesNothing", func(t *testing.T) {
		n := 0
		w.writesNothing(t, func() {
			n = asPlanned("", func(i int, _ *node) bool { return i%10 == 0 })
		})
		loaded, refused := l.reset()
		t.Logf("refused %v", refused)
		require.Empty(t, loaded)
		require.Equal(t, n, total(refused))
	})
	t.Run("TheSameUnderOtherNamesIsRefusedAndChangesNothing", func(t *testing.T) {
		n := 0
		w.writesNothing(t, func() {
			n = asPlanned("x-", func(i int, n *node) bool { return i%10 == 0 })
		})
		loaded, refused := l.reset()
		t.Logf("refused %v", refused)
		require.Empty(t, loaded)
		require.Equal(t, n, refused["root pool overlap"]+refused["child pool block_taken"])
	})
	t.Run("AsRootsAloneWhatOverlapsIsRefused", func(t *testing.T) {
		nested := map[netip.Prefix]bool{} // every range that contains another or lies in one
		for _, n := range plan {
			if n.parent != nil {
				nested[n.block], nested[n.parent.block] = true, true
			}
		}
		l.load(t, []job{l.space(t, "flat", "Whoever comes first")})
		l.reset()
		var jobs []job
		for _, block := range ranges { // in the order of the file
			if nested[block] {
				jobs = append(jobs, l.pool(t, "flat-"+nameOf(block.String()), "flat", "", client.IPPoolSpec{CIDR: block.String()}))
			}
		}
		l.load(t, jobs)
		loaded, refused := l.reset()
		t.Logf("loaded %v, refused %v", loaded, refused)
		require.Equal(t, len(nested), loaded["root pool"]+refused["root pool overlap"], "loaded and refused is all")

		kept, around := map[netip.Prefix]bool{}, map[netip.Prefix]bool{}
		for _, p := range all[client.IPPool](t, w.caller, at("pools")+"?space=flat") {
			block := netip.MustParsePrefix(p.Status.AllocatedCIDR)
			kept[block] = true
			for bits := range block.Bits() {
				around[netip.PrefixFrom(block.Addr(), bits).Masked()] = true
			}
		}
		require.Len(t, kept, loaded["root pool"])
		for block := range nested {
			overlaps := around[block]
			for bits := range block.Bits() {
				overlaps = overlaps || kept[netip.PrefixFrom(block.Addr(), bits).Masked()]
			}
			require.NotEqual(t, kept[block], overlaps, "%v is kept, or overlaps one that is", block)
		}
	})
}
