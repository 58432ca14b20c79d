package cli_test

import (
	"encoding/csv"
	"math"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// netboxTable reads a table of an export for NetBox. It returns the rows and the header.
func netboxTable(t *testing.T, dir, name string) (rows [][]string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	require.NoError(t, err)
	defer f.Close()
	rows, err = csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	return rows[1:]
}

// requireNetBoxTakes checks an export against the rules of NetBox 4.5. The rules are in the models and the import forms (netbox/ipam/models/ip.py,
// netbox/ipam/choices.py and netbox/ipam/forms/bulk_import.py). If one row breaks a rule, NetBox refuses the whole table.
func requireNetBoxTakes(t *testing.T, dir string) {
	t.Helper()
	vrfs, seen := map[string]bool{"": true}, map[[3]string]bool{}
	once := func(kind, vrf, what string) {
		require.True(t, vrfs[vrf], "%s: the VRF %q is in no table", what, vrf)
		require.False(t, seen[[3]string{kind, vrf, what}], "%s is twice in VRF %q", what, vrf)
		seen[[3]string{kind, vrf, what}] = true
	}
	about := func(what, text string) {
		require.LessOrEqual(t, utf8.RuneCountInString(text), 200, what)
		require.False(t, text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])), "%s: a spreadsheet computes %q", what, text)
		require.False(t, strings.HasPrefix(text, "'="), "%s: NetBox would keep the apostrophe of %q", what, text)
	}
	for _, r := range netboxTable(t, dir, "vrfs.csv") {
		require.False(t, vrfs[r[0]], r)
		vrfs[r[0]] = true
		about(r[0], r[1])
	}
	for _, r := range netboxTable(t, dir, "prefixes.csv") {
		block, err := netip.ParsePrefix(r[0])
		require.NoError(t, err)
		require.Equal(t, block.Masked(), block)
		require.Positive(t, block.Bits(), "NetBox has no prefix of the length 0")
		once("prefix", r[1], r[0])
		require.Contains(t, []string{"container", "active", "reserved", "deprecated"}, r[2], r)
		about(r[0], r[3])
	}
	type held struct {
		vrf         string
		first, last netip.Addr
	}
	var ranges []held
	for _, r := range netboxTable(t, dir, "ip-ranges.csv") {
		first, err := netip.ParsePrefix(r[0])
		require.NoError(t, err)
		last, err := netip.ParsePrefix(r[1])
		require.NoError(t, err)
		require.Equal(t, first.Bits(), last.Bits(), r)
		require.Equal(t, 1, last.Addr().Compare(first.Addr()), "%v: the end is not behind the start", r)
		size := new(big.Int).Sub(new(big.Int).SetBytes(last.Addr().AsSlice()), new(big.Int).SetBytes(first.Addr().AsSlice()))
		require.Equal(t, -1, size.Cmp(big.NewInt(math.MaxUint32)), "%v has more addresses than NetBox counts", r)
		now := held{r[2], first.Addr(), last.Addr()}
		require.False(t, slices.ContainsFunc(ranges, func(h held) bool {
			return h.vrf == now.vrf && h.first.Compare(now.last) <= 0 && now.first.Compare(h.last) <= 0
		}), "%v overlaps another range", r)
		ranges = append(ranges, now)
		once("range", r[2], r[0])
		require.Contains(t, []string{"active", "reserved", "deprecated"}, r[3], r)
		about(r[0], r[4])
	}
	for _, r := range netboxTable(t, dir, "ip-addresses.csv") {
		address, err := netip.ParsePrefix(r[0])
		require.NoError(t, err)
		once("address", r[1], address.Addr().String())
		require.Contains(t, []string{"active", "reserved", "deprecated", "dhcp", "slaac"}, r[2], r)
		about(r[0], r[4])
	}
}

func TestNetBoxExportPassesNetBoxValidation(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.ask(t, "POST", "/v1/projects", fields{"metadata": fields{"name": "nx"}})
	pool := func(name, cidr, description string, reservations ...fields) {
		d.ask(t, "POST", "/v1/projects/nx/pools", fields{
			"metadata": fields{"name": name}, "spec": fields{"cidr": cidr, "description": description, "reservations": append([]fields{}, reservations...)},
		})
	}
	pool("lan", "10.0.0.0/24", "-5 V supply", fields{"first": 1, "reason": "network"}, fields{"last": 1, "reason": "broadcast"}, fields{"from": "10.0.0.10", "to": "10.0.0.19"})
	pool("v6", "2001:db8::/32", strings.Repeat("ä", 250), fields{"cidr": "2001:db8::/48", "reason": "=1+1"}, fields{"cidr": "2001:db8:1::/96"}, fields{"from": "2001:db8:2::", "to": "2001:db8:2::ffff:fffe"})
	pool("whole", "192.0.2.0/28", "")
	claim := func(name, pool, cidr string, labels fields, note string) {
		d.ask(t, "POST", "/v1/projects/nx/claims", fields{
			"metadata": fields{"name": name, "labels": labels, "annotations": fields{"description": note}},
			"spec":     fields{"poolRef": fields{"name": pool}, "cidr": cidr},
		})
	}
	claim("h1", "lan", "10.0.0.1/32", fields{"status": "Used"}, "@SUM(1+1)")
	claim("h2", "lan", "10.0.0.2/32", fields{"status": "DHCP"}, "")
	claim("net1", "lan", "10.0.0.128/28", fields{"status": "dhcp"}, "")
	claim("net2", "lan", "10.0.0.144/28", fields{"status": "Offline"}, "")
	claim("all", "whole", "192.0.2.0/28", fields{}, "")
	d.ask(t, "POST", "/v1/projects/nx/spaces", fields{"metadata": fields{"name": "world"}, "spec": fields{"description": "+1"}})
	d.ask(t, "POST", "/v1/projects/nx/pools", fields{"metadata": fields{"name": "world"}, "spec": fields{"cidr": "0.0.0.0/0", "spaceRef": fields{"name": "world"}}})

	dir := filepath.Join(t.TempDir(), "netbox")
	r := d.done("export", "-o", "netbox-csv", "--to", dir, "-p", "nx")
	requireNetBoxTakes(t, dir)
	require.Equal(t, [][]string{
		{"10.0.0.0/32", "", "reserved", "", "network"}, {"10.0.0.255/32", "", "reserved", "", "broadcast"},
		{"10.0.0.1/32", "", "active", "h1", "SUM(1+1)"}, {"10.0.0.2/32", "", "dhcp", "h2", "h2"},
	}, netboxTable(t, dir, "ip-addresses.csv"))
	require.Equal(t, [][]string{
		{"10.0.0.10/24", "10.0.0.19/24", "", "reserved", ""}, {"2001:db8:2::/32", "2001:db8:2::ffff:fffe/32", "", "reserved", ""},
	}, netboxTable(t, dir, "ip-ranges.csv"))
	require.Equal(t, [][]string{
		{"10.0.0.0/24", "", "active", "5 V supply"}, {"192.0.2.0/28", "", "active", "whole"}, {"2001:db8::/32", "", "active", strings.Repeat("ä", 200)},
		{"2001:db8::/48", "", "reserved", "1+1"}, {"2001:db8:1::/96", "", "reserved", ""},
		{"10.0.0.128/28", "", "active", "net1"}, {"10.0.0.144/28", "", "deprecated", "net2"},
	}, netboxTable(t, dir, "prefixes.csv"))
	for _, note := range []string{
		"pool lan loses the leading characters = + - @ of its description",
		"pool v6 has a description of more than 200 characters",
		"claim net1 is exported as active: its status dhcp does not exist in NetBox",
		"claim all is omitted: NetBox allows a prefix only once in a VRF, and pool whole has it",
		"pool world is omitted: NetBox has no prefixes of length 0",
	} {
		require.Contains(t, r.err, note)
	}
}

func TestNetBoxExportNamesSpacesOfOtherProjects(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.ask(t, "POST", "/v1/projects", fields{"metadata": fields{"name": "tenant"}})
	d.done("pool", "create", "common", "--cidr", "10.9.0.0/16", "--visibility", "shared")
	d.done("grant", "add", "tenant", "--pool", "common")
	d.ask(t, "POST", "/v1/projects/tenant/claims", fields{"metadata": fields{"name": "guest"}, "spec": fields{"poolRef": fields{"project": "team-a", "name": "common"}, "prefixLength": 32}})
	dir := filepath.Join(t.TempDir(), "netbox")
	d.done("export", "-o", "netbox-csv", "--to", dir, "-p", "tenant")
	requireNetBoxTakes(t, dir)
	require.Equal(t, [][]string{{"team-a/default", ""}}, netboxTable(t, dir, "vrfs.csv"))
	require.Equal(t, "team-a/default", netboxTable(t, dir, "ip-addresses.csv")[0][1])
}
