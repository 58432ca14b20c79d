package e2e

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// netboxRecord is a record of a NetBox export: a VRF, an aggregate, a prefix, a range or an address.
type netboxRecord struct {
	Model        string `json:"model"`
	PK           int    `json:"pk"`
	VRF          int    `json:"vrf"` // 0 for the global VRF
	Name         string `json:"name"`
	Description  string `json:"description"`
	Prefix       string `json:"prefix"`
	Address      string `json:"address"`
	StartAddress string `json:"start_address"`
	EndAddress   string `json:"end_address"`
}

func netboxRecords(t testing.TB) map[string][]netboxRecord {
	t.Helper()
	raw, err := os.ReadFile(realInput(t, "netbox-demo-ipam.json"))
	require.NoError(t, err)
	var export struct {
		Records []netboxRecord `json:"records"`
	}
	require.NoError(t, json.Unmarshal(raw, &export))
	out := map[string][]netboxRecord{}
	for _, r := range export.Records {
		out[r.Model] = append(out[r.Model], r)
	}
	return out
}

// The test loads a real installation. VRFs become spaces, and aggregates become root pools. Prefixes become pools in the smallest prefix around them,
// ranges become reservations, and addresses become claims.
func TestNetBoxInstallation(t *testing.T) {
	t.Parallel()
	records := netboxRecords(t)
	l, w := newLoader(t)
	input := len(records["ipam.vrf"]) + len(records["ipam.aggregate"]) + len(records["ipam.prefix"]) + len(records["ipam.ipaddress"])
	importAll := func(prefix string) { l.netbox(t, prefix, records) }

	t.Run("LoadsThroughThePublicAPI", func(t *testing.T) {
		importAll("")
		loaded, refused := l.reset()
		t.Logf("loaded %v, refused %v", loaded, refused)
		require.Equal(t, input, total(loaded)+total(refused), "loaded and refused is all")
		require.Empty(t, refused)
		require.Equal(t, map[string]int{"space": 6, "root pool": 4 + 6, "child pool": 84, "address": 180}, loaded)
	})
	t.Run("HoldsWhatNetBoxHeld", func(t *testing.T) {
		spaces := map[string]bool{}
		blocks := map[string]bool{}
		for _, p := range all[client.IPPool](t, w.caller, at("pools")) {
			spaces[p.Status.SpaceRef.Name] = true
			blocks[p.Status.SpaceRef.Name+" "+p.Status.AllocatedCIDR] = true
			if p.Status.ParentRef != nil {
				parent := w.getPool(t, p.Status.ParentRef.Name)
				require.True(t, inside(p.Status.AllocatedCIDR, parent.Status.AllocatedCIDR))
				require.Equal(t, parent.Status.SpaceRef, p.Status.SpaceRef)
			}
		}
		require.Len(t, spaces, 1+6)
		for _, r := range slices.Concat(records["ipam.aggregate"], records["ipam.prefix"]) {
			require.True(t, blocks[spaceOf(records, r.VRF)+" "+r.Prefix], r.Prefix)
		}
		claims := all[client.IPClaim](t, w.caller, at("claims"))
		require.Len(t, claims, len(records["ipam.ipaddress"]))
		reserved := all[client.IPAllocation](t, w.caller, at("allocations")+"?purpose=Reservation")
		sum := 0
		for _, a := range reserved {
			require.Equal(t, "Future use", a.Spec.Reason)
			sum += int(size(a.Status.AllocatedCIDR).Int64())
		}
		require.Equal(t, 4*50, sum, "four ranges of fifty addresses")
	})
	for name, prefix := range map[string]string{"ASecondLoad": "", "TheSameUnderOtherNames": "x-"} {
		t.Run(name+"IsRefusedAndChangesNothing", func(t *testing.T) {
			w.writesNothing(t, func() {
				importAll(prefix)
				loaded, refused := l.reset()
				t.Logf("refused %v", refused)
				require.Empty(t, loaded)
				require.Equal(t, input, total(refused))
			})
		})
	}
}

// spaceOf returns the name of the space for a VRF.
func spaceOf(records map[string][]netboxRecord, vrf int) string {
	for _, r := range records["ipam.vrf"] {
		if r.PK == vrf {
			return strings.ToLower(r.Name)
		}
	}
	return "default"
}

// netbox loads all records. prefix is a prefix for the names of pools and claims, so that the records can be loaded several times.
func (l *loader) netbox(t testing.TB, prefix string, records map[string][]netboxRecord) {
	t.Helper()
	var jobs []job
	plans := map[string][]*node{}
	blocks := map[string][]netip.Prefix{}
	for _, r := range records["ipam.vrf"] {
		jobs = append(jobs, l.space(t, spaceOf(records, r.PK), r.Description))
	}
	l.load(t, jobs)
	for _, r := range slices.Concat(records["ipam.aggregate"], records["ipam.prefix"]) {
		space := spaceOf(records, r.VRF)
		blocks[space] = append(blocks[space], netip.MustParsePrefix(r.Prefix))
	}
	for space := range blocks {
		plans[space] = forest(blocks[space])
	}
	reservations := map[*node][]client.Reservation{}
	for _, r := range records["ipam.iprange"] {
		from, to := netip.MustParsePrefix(r.StartAddress).Addr(), netip.MustParsePrefix(r.EndAddress).Addr()
		pool := around(plans[spaceOf(records, r.VRF)], from)
		reservations[pool] = append(reservations[pool], client.Reservation{From: from.String(), To: to.String(), Reason: r.Description})
	}
	for depth, more := 0, true; more; depth++ {
		jobs, more = nil, false
		for space, plan := range plans {
			for _, n := range plan {
				more = more || n.depth > depth
				if n.depth == depth {
					spec := client.IPPoolSpec{CIDR: n.block.String(), Reservations: reservations[n]}
					parent := n.parent.name()
					if parent != "" {
						parent = space + "-" + parent
					}
					jobs = append(jobs, l.pool(t, prefix+space+"-"+n.name(), space, parent, spec))
				}
			}
		}
		l.load(t, jobs)
	}
	jobs = nil
	for _, r := range records["ipam.ipaddress"] {
		space, address := spaceOf(records, r.VRF), netip.MustParsePrefix(r.Address).Addr()
		name := fmt.Sprintf("%s%s-%s", prefix, space, nameOf(address.String()))
		jobs = append(jobs, l.address(t, name, space+"-"+around(plans[space], address).name(), address.String()))
	}
	l.load(t, jobs)
}
