package transfer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// accounted returns the outcomes of an import of texts into an empty project.
func accounted(t *testing.T, of string, texts map[string]string) (out report, refused bool) {
	t.Helper()
	var files []source.File
	for name, text := range texts {
		files = append(files, source.File{Name: name, Text: strings.NewReader(text)})
	}
	reading, err := source.Read(of, files)
	require.NoError(t, err)
	m := rules.Preset(of)
	m.Roots = []rules.Root{{Name: "all", CIDR: "10.0.0.0/8"}}
	w, err := desiredItems(m, "p", &reading.Records)
	require.NoError(t, err)
	w.names()
	p := &plan{desired: w, states: map[string]*state{}}
	p.grow()
	return account(w, true, false), p.refused
}

const vpcs = `{"Vpcs":[{"VpcId":"vpc-1","CidrBlock":"10.1.0.0/16"}]}`

func TestVPCInTwoAWSResponsesIsImportedOnce(t *testing.T) {
	t.Parallel()
	allocated := func(resource string) string {
		return `{"IpamPoolId":"ipam-pool-0a1","IpamPoolAllocations":[{"Cidr":"10.1.0.0/16","IpamPoolAllocationId":"alloc-1","ResourceId":"` + resource + `","ResourceType":"vpc"}]}`
	}
	out, refused := accounted(t, "aws", map[string]string{"vpcs.json": vpcs, "allocations.json": allocated("vpc-1")})
	require.False(t, refused)
	require.Equal(t, map[string]int{outcomeCreate: 1, outcomeSkipped: 1}, out.Counts)
	_, refused = accounted(t, "aws", map[string]string{"vpcs.json": vpcs, "allocations.json": allocated("vpc-2")})
	require.True(t, refused, "two VPCs have one block")
}

func TestSharedNetBoxAddressIsImportedOnce(t *testing.T) {
	t.Parallel()
	address := func(id, role string) string {
		return `{"id":` + id + `,"url":"https://nb.example.net/api/ipam/ip-addresses/` + id + `/","address":"10.0.0.1/24","role":` + role + `}`
	}
	page := func(first, second string) map[string]string {
		return map[string]string{"page.json": `{"results":[` + address("1", first) + `,` + address("2", second) + `]}`}
	}
	const vrrp, label = `{"value":"vrrp","label":"VRRP"}`, `"hsrp"`
	for _, roles := range [][2]string{{vrrp, vrrp}, {vrrp, label}} {
		out, refused := accounted(t, "netbox", page(roles[0], roles[1]))
		require.False(t, refused)
		require.Equal(t, map[string]int{outcomeCreate: 1, outcomeSkipped: 1}, out.Counts)
	}
	table, refused := accounted(t, "netbox", map[string]string{"addresses.csv": "address,role\n10.0.0.1/24,VRRP\n10.0.0.1/24,VRRP\n"})
	require.False(t, refused)
	require.Equal(t, map[string]int{outcomeCreate: 1, outcomeSkipped: 1}, table.Counts)
	for _, roles := range [][2]string{{vrrp, "null"}, {"null", "null"}, {vrrp, `{"value":"loopback"}`}} {
		_, refused := accounted(t, "netbox", page(roles[0], roles[1]))
		require.True(t, refused, "%v", roles)
	}
}
