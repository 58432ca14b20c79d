package source

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordLine formats a record in one line. The line has the kind, the block, the name, the status and some fields.
func recordLine(r Record, fields ...string) string {
	if r.Problem != "" {
		return r.ID + " PROBLEM " + r.Problem
	}
	text := fmt.Sprintf("%s %s %s", r.ID, r.Kind, r.Where())
	for _, more := range []string{r.Name, r.Status} {
		text += " | " + more
	}
	for _, f := range fields {
		text += " | " + r.Fields.Get(f)
	}
	return text
}

func TestSourcesAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		of     string
		files  string
		fields []string
		want   []string
	}{
		"PHPIPAM": {"phpipam", "phpipam-subnets.csv phpipam-addresses.csv", []string{"vrf", "vlan", "customer", "description"}, []string{
			"phpipam-subnets.csv:2 prefix 10.10.0.0/16 |  |  |  |  |  | Head office",
			"phpipam-subnets.csv:3 prefix 10.10.1.0/24 |  |  |  | 110 |  | Desks",
			"phpipam-subnets.csv:4 prefix 10.10.2.0/24 |  |  | Voice | 120 | Dunder Mifflin | Phones",
			"phpipam-subnets.csv:5 reference  | Branches (folder) |  |  |  |  | Branches",
			"phpipam-subnets.csv:6 PROBLEM 10.10.3.7/24 has host bits: the network is 10.10.3.0/24",
			"phpipam-addresses.csv:2 address 10.10.1.1 | gw.example.com | used |  |  |  | Gateway",
			"phpipam-addresses.csv:3 address 10.10.1.20 | printer | reserved |  |  |  | Printer; second floor",
		}},
		"Infoblox": {"infoblox", "infoblox.csv", []string{"type", "network_view", "site", "description"}, []string{
			"infoblox.csv:2 prefix 10.20.0.0/16 |  |  | networkcontainer |  | Oslo | Data centre",
			"infoblox.csv:4 prefix 10.20.1.0/24 |  |  | network |  | Oslo | Servers",
			"infoblox.csv:5 prefix 10.20.1.0/24 |  |  | network | Lab |  | The same in another view",
			"infoblox.csv:7 prefix 2001:db8:20::/64 |  |  | network |  |  | Servers",
			"infoblox.csv:9 range 10.20.1.100-10.20.1.149 |  |  | dhcprange |  |  | Dynamic",
			"infoblox.csv:11 address 10.20.1.10 | printer |  | fixedaddress |  |  | First floor",
			"infoblox.csv:12 address 10.20.1.11 | old-printer | disabled | fixedaddress |  |  | ",
			"infoblox.csv:17 address 10.20.1.30 | db.example.com |  | host |  |  | ",
			"infoblox.csv:19 reference  | www.example.org |  |  |  |  | ",
			"infoblox.csv:14#1 address 10.20.1.20 | www.example.com |  | host |  |  | Web",
			"infoblox.csv:14#2 address 10.20.1.21 | www.example.com |  | host |  |  | Web",
			"infoblox.csv:15#1 reference  | db.example.com |  | host |  |  | Database",
		}},
		"AWS": {
			"aws", "aws-pools.json ipam-pool-0a1-cidrs.json ipam-pool-0a1-allocations.json ipam-pool-0b2-allocations.json ipam-pool-0c4-cidrs.json aws-subnets.json",
			[]string{"type", "scope", "locale", "region", "minPrefixLength"},
			[]string{
				"ipam-pool-0a1/10.0.0.0/8 prefix 10.0.0.0/8 | Top |  | ipam-pool | private |  |  | ",
				"ipam-pool-0a1/172.16.0.0/12 prefix 172.16.0.0/12 | Top | failed-provision | ipam-pool | private |  |  | ",
				"ipam-pool-alloc-01 prefix 10.0.0.0/12 | eu-north-1 |  | ipam-pool | private | eu-north-1 |  | 16",
				"ipam-pool-alloc-02 prefix 10.0.0.0/20 | vpc-0d4 |  | vpc | private |  | eu-north-1 | ",
				"ipam-pool-alloc-03 prefix 10.0.16.0/24 | On premises |  | custom | private |  |  | ",
				"vpc-0d4 prefix 10.0.0.0/20 | vpc-0d4 |  | vpc | private |  |  | ",
				"vpc-0d4/100.64.0.0/16 prefix 100.64.0.0/16 | vpc-0d4 |  | vpc | private |  |  | ",
				"vpc-0d4/2001:db8:d4::/56 prefix 2001:db8:d4::/56 | vpc-0d4 |  | vpc |  |  |  | ",
				"subnet-0e5 prefix 10.0.0.0/24 | front |  | subnet | private |  |  | ",
				"subnet-0e5/2001:db8:d4::/64 prefix 2001:db8:d4::/64 | front |  | subnet |  |  |  | ",
				"ipam-pool-0c3 PROBLEM no file contains its block: add the output of `aws ec2 get-ipam-pool-cidrs --ipam-pool-id ipam-pool-0c3`",
				"ipam-pool-0c4 reference  | ipam-pool-0c4 |  |  |  |  |  | ",
			},
		},
		"Whereabouts": {"whereabouts", "whereabouts.json", []string{"pod", "interface"}, []string{
			"IPPool/kube-system/10.30.0.0-24 prefix 10.30.0.0/24 | 10.30.0.0-24 |  |  | ",
			`IPPool/kube-system/10.30.0.0-24[300] PROBLEM "300" is not an offset in the range "10.30.0.0/24"`,
			"IPPool/kube-system/10.30.0.0-24[5] address 10.30.0.5 | shop-web-0 |  | shop/web-0 | net1",
			"OverlappingRangeIPReservation/kube-system/10.30.0.5 reference  | 10.30.0.5 |  |  | ",
		}},
		"AnyTable": {"csv", "any.csv", []string{"team"}, []string{
			"any.csv:2 prefix 10.40.0.0/16 |  | active | core",
			"any.csv:3 prefix 10.40.1.0/24 |  |  | core",
			"any.csv:4 range 10.40.1.10-10.40.1.19 |  | reserved | ",
			`any.csv:5 PROBLEM "10.40.2.0/255.0.255.0" is not a CIDR: write the mask as a length, such as /24`,
			"any.csv:6 PROBLEM it has no block and no address: the columns for these are cidr, prefix, network, subnet, " +
				"address, ip_address, or start_address with end_address",
		}},
		"NetBoxTables": {"netbox", "prefixes.csv aggregates-and-more.json", []string{"vrf", "tenant", "role", "description"}, []string{
			"prefixes.csv:2 prefix 10.60.0.0/16 |  | active |  | Dunder Mifflin |  | Branches",
			"prefixes.csv:3 prefix 10.60.1.0/24 |  | reserved | Blue |  | Access | ",
			"ipam.prefix/7 prefix 10.70.0.0/16 |  | active |  |  |  | ",
			"ipam.aggregate/1 aggregate 10.0.0.0/8 |  |  |  |  |  | ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var files []File
			for name := range strings.FieldsSeq(c.files) {
				text, err := os.ReadFile(filepath.Join("testdata", name))
				require.NoError(t, err)
				files = append(files, File{Name: name, Text: bytes.NewReader(text)})
			}
			read, err := Read(c.of, files)
			require.NoError(t, err)
			var got []string
			for _, r := range rowsOf(read) {
				got = append(got, recordLine(r, c.fields...))
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestOwnExportTableIsReadUnchanged(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "own.csv"))
	require.NoError(t, err)
	read, err := Read("csv", []File{{Name: "own.csv", Text: bytes.NewReader(text)}})
	require.NoError(t, err)
	records := rowsOf(read)
	require.Len(t, records, 3)
	require.Equal(t, map[string]string{"env": "lab", "team": "a"}, records[0].Own.Labels)
	require.Equal(t, map[string]string{"a": "b"}, records[0].Own.Annotations)
	require.JSONEq(t, `{"visibility":"shared"}`, string(records[0].Own.Spec))
	require.Contains(t, records[1].Problem, "cannot read its spec")
	require.Contains(t, records[2].Problem, `"thing" is not a kind of Carve`)
}

func TestConsoleTableIsReadUnchanged(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "console.csv"))
	require.NoError(t, err)
	text = append(text, "claim,address,10.80.16.11,inner,,,,,,\"a=1,b=2\"\r\nclaim,any,/24,top,,,,,,\r\nthing,x,10.80.0.0/16,,,,,,,\r\n"...)
	read, err := Read("csv", []File{{Name: "office.csv", Text: bytes.NewReader(text)}})
	require.NoError(t, err)
	records := rowsOf(read)
	by := map[string]*Record{}
	for _, r := range records {
		by[r.Name] = &r
	}
	require.Len(t, by, len(records))
	require.Equal(t, `=HYPERLINK("https://evil.example","a, b")`, by["top"].Fields.Get("description"))
	require.Equal(t, Own{Labels: map[string]string{"site": "hq", "example.com/floor": "2", "empty": ""}, Annotations: map[string]string{}, Spec: []byte(`{}`)}, *by["top"].Own)
	require.Equal(t, "'quoted', \"twice\"\nand two lines", by["inner"].Fields.Get("description"))
	require.Equal(t, Own{Parent: "top", Labels: map[string]string{}, Annotations: map[string]string{}, Spec: []byte(`{"visibility":"shared"}`), Serves: []string{"web"}}, *by["inner"].Own)
	require.Equal(t, "'=not a formula", by["bench"].Fields.Get("description"))
	require.Equal(t, "lab", by["bench"].Own.Space)
	require.Equal(t, "office.csv:12 claim 10.80.16.9 | printer | ", recordLine(*by["printer"]))
	require.JSONEq(t, `{"className":"web"}`, string(by["front"].Own.Spec))
	require.JSONEq(t, `{}`, string(by["node"].Own.Spec), "the pool of a scope becomes an ordinary one")
	require.Equal(t, "10.80.16.11", by["address"].Where())
	require.Equal(t, map[string]string{"a": "1", "b": "2"}, by["address"].Own.Labels)
	require.Contains(t, by["any"].Problem, "it has no block yet")
	require.Contains(t, by["x"].Problem, `"thing" is not a kind of the console's export`)
}

func TestFilesOfAnotherSourceAreRefused(t *testing.T) {
	t.Parallel()
	_, err := Read("csv", []File{{Name: "some.file", Text: strings.NewReader("# A text\nwith lines\n")}})
	require.ErrorContains(t, err, "no column has a known title for addresses")
	for of, text := range map[string]string{
		"netbox": `{"a": 1}`, "csv": "", "infoblox": "network,10.0.0.0,255.0.0.0\n",
		"aws": `{"IpamPools": 7}`, "whereabouts": "[]", "plan": "[]", "phpipam": "",
	} {
		_, err := Read(of, []File{{Name: "some.file", Text: strings.NewReader(text)}})
		require.ErrorContains(t, err, "some.file", of)
	}
}
