package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sources returns a valid file with n addresses in each format that a mirror can read.
func sources(n int) map[string]string {
	row := func(head, line, foot, between string) string {
		var all []string
		for at := range n {
			all = append(all, strings.NewReplacer("{n}", fmt.Sprint(at), "{a}", fmt.Sprintf("10.88.0.%d", at+1)).Replace(line))
		}
		return head + strings.Join(all, between) + foot
	}
	return map[string]string{
		"csv":      row("cidr,name,description\n10.88.0.0/24,lan,\"Floor 1, left\"\n", "{a}/32,host-{n},a host\n", "", ""),
		"phpipam":  row("Section;IP Address;Hostname;Tag;Description\n", "Office;{a};host-{n};Used;\"a; host\"\n", "", ""),
		"infoblox": row("header-network,address*,netmask*,comment\nnetwork,10.88.0.0,255.255.255.0,\"a, net\"\nheader-hostrecord,fqdn*,addresses,comment\n", "hostrecord,host-{n}.example,{a},a host\n", "", ""),
		"netbox": row(`{"count":`+fmt.Sprint(n)+`,"next":null,"previous":null,"results":[`,
			`{"id":{n},"address":"{a}/24","dns_name":"host-{n}","description":"Gebäude","status":{"value":"active"}}`, "]}\n", ",\n"),
		"aws":         row(`{"Subnets":[`, `{"SubnetId":"subnet-{n}","CidrBlock":"{a}/32"}`, "]}\n", ",\n"),
		"whereabouts": row(`{"items":[{"kind":"IPPool","metadata":{"name":"lan"},"spec":{"range":"10.88.0.0/24","allocations":{`, `"{n}":{"podref":"shop/host-{n}"}`, "}}}]}\n", ",\n"),
	}
}

// A mirror reads damaged files one after the other and must release nothing. It refuses a file, or it holds back the releases. If a table is cut
// between two rows, the table is still valid. Therefore the mirror releases a missing row only after the same table was written a second time.
func TestMirrorOfDamagedFilesReleasesNothing(t *testing.T) {
	t.Parallel()
	const hosts, bytes = 30, 9
	for of, text := range sources(hosts) {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			d := fresh(t)
			file := written(t, of+".file", text)
			args := []string{"shadow", "mirror", of, file, "--root", "all=10.88.0.0/16"}
			d.done(args...)
			all := d.held()
			require.GreaterOrEqual(t, len(all), hosts-1)
			damaged := []string{}
			end := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") // the offset before the last row
			for n := range bytes {
				at := len(text) - 1 - (len(text)/10)*n/bytes // in the last tenth, so that the number of missing rows is below --max-removals
				damaged = append(damaged, text[:at], text[:at]+`"`+text[at:], text[:at]+"\xe4"+text[at+1:])
			}
			damaged = append(damaged, text[:end+1], text[:end]+text[end+1:], text[:end+1]+strings.Replace(text[end+1:], "host-", `"19in host-`, 1),
				strings.ReplaceAll(text, `"next":null`, `"next":"https://nb/api/ipam/ip-addresses/?offset=30"`))
			for n, text := range damaged {
				d.rewrite(file, text)
				d.run(args...)
				require.Subset(t, d.held(), all, "damage %d", n)
			}
			// This proves that the test can fail. Without the protection, the same cut releases claims.
			if of == "csv" || of == "phpipam" || of == "infoblox" {
				d.rewrite(file, text[:end+1])
				d.run(append(args, "--allow-removals")...)
				require.Less(t, len(d.held()), len(all), "without the safety it would have been released")
			}
			require.Contains(t, d.done("audit").out, "audit clean")
		})
	}
}

// If a row is missing from a table, the mirror first lists the row. It releases the row after the same table was written a second time.
func TestMirrorReleasesMissingRowsAfterASecondReading(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	text := sources(30)["csv"]
	file := written(t, "hosts.csv", text)
	mirror := func(code int) string {
		r := d.run("shadow", "mirror", "csv", file)
		require.Equal(t, code, r.code, r.out+r.err)
		return r.out + r.err
	}
	mirror(0)
	all := d.held()
	less := strings.Replace(text, "10.88.0.8/32,host-7,a host\n", "", 1)
	d.rewrite(file, less)
	require.Contains(t, mirror(4), "nothing is released: the table no longer has 1 thing, and may be truncated")
	require.Contains(t, mirror(4), "1 held back", "it is still the same file")
	d.rewrite(file, strings.Replace(less, "10.88.0.9/32,host-8,a host\n", "", 1))
	require.Contains(t, mirror(4), "2 held back", "another reading lacks more")
	require.Equal(t, all, d.held())
	less += "10.88.0.200/32,young,a host\n"
	d.rewrite(file, less)
	require.Contains(t, mirror(4), "1 held back", "it is another table")
	d.rewrite(file, strings.Replace(less, "young,a host", "young,a guest", 1))
	require.Contains(t, mirror(4), "1 held back", "and so is this one")
	require.Subset(t, d.held(), all)
	less = strings.Replace(less, "young,a host", "young,a guest", 1) + "10.88.0.201/32,younger,a host\n"
	d.rewrite(file, less)
	mirror(4)
	d.rewrite(file, less)
	out := mirror(0)
	require.Contains(t, out, "going to release 10.88.0.8 claim/host-7 in space default: csv no longer has it")
	require.NotContains(t, d.held(), "10.88.0.8/32")
	require.Len(t, d.held(), len(all)+1)

	d.rewrite(file, text)
	r := d.run("shadow", "mirror", "csv", file, "--allow-removals")
	require.Less(t, strings.Index(r.out, "10.88.0.200 "), strings.Index(r.out, "10.88.0.8 "), "releases come first")
	require.Equal(t, all, d.held())
}

// The mirror releases nothing if the source is incomplete. Examples are one page of several, a part of a response of AWS, and a pool without its
// allocations.
func TestMirrorOfAPartialResponseReleasesNothing(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	page := func(from, to, count int, next, previous string) string {
		var rows []string
		for n := from; n < to; n++ {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"address":"10.88.0.%d/24"}`, n, n))
		}
		return fmt.Sprintf(`{"count":%d,"next":%s,"previous":%s,"results":[%s]}`, count, next, previous, strings.Join(rows, ","))
	}
	root := []string{"--root", "all=10.88.0.0/16"}
	file := written(t, "nb.json", page(1, 41, 40, "null", "null"))
	d.done(append([]string{"shadow", "mirror", "netbox", file}, root...)...)
	all := d.held()
	require.Len(t, all, 40)
	const link = `"https://nb/api/ipam/ip-addresses/?limit=37"`
	const next = `"https://nb/api/ipam/ip-addresses/?limit=37&offset=37"`
	d.rewrite(file, page(1, 38, 40, next, "null")+page(38, 41, 40, "null", link))
	require.Contains(t, d.done(append([]string{"shadow", "mirror", "netbox", file}, root...)...).out, "40 rows: 40 same")
	for _, text := range []string{page(1, 38, 40, next, "null"), page(1, 38, 40, "null", "null"), page(38, 41, 40, "null", link)} {
		d.rewrite(file, text)
		require.Equal(t, 2, d.run(append([]string{"shadow", "mirror", "netbox", file}, root...)...).code)
	}
	require.Equal(t, all, d.held())

	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	allocation := func(n int) string {
		return fmt.Sprintf(`{"IpamPoolAllocations":[{"Cidr":"10.%d.1.0/24","IpamPoolAllocationId":"alloc-%d","ResourceType":"custom"}]}`, n, n)
	}
	pools := put("pools.json", `{"IpamPools":[{"IpamPoolId":"ipam-pool-01","IpamScopeType":"private"},{"IpamPoolId":"ipam-pool-02","IpamScopeType":"private"}]}`)
	var files []string
	for n := 1; n <= 2; n++ {
		files = append(files, put(fmt.Sprintf("ipam-pool-0%d-cidrs.json", n), fmt.Sprintf(`{"IpamPoolCidrs":[{"Cidr":"10.%d.0.0/16","State":"provisioned"}]}`, n)))
	}
	first, second := put("ipam-pool-01-allocations.json", allocation(1)), put("ipam-pool-02-allocations.json", allocation(2))
	d.done("project", "create", "cloud")
	aws := func(files ...string) []string {
		return append([]string{"-p", "cloud", "shadow", "mirror", "aws", "--max-removals", "50%", pools}, files...)
	}
	d.done(aws(append(files, first, second)...)...)
	all = d.held("-p", "cloud")
	require.Len(t, all, 2)
	for range 2 {
		r := d.run(aws(append(files, first)...)...)
		require.Contains(t, r.err, "nothing is released: no file has the allocations of pool ipam-pool-02")
	}
	require.Equal(t, 2, d.run(aws(append(files, first, put("ipam-pool-02-allocations.json", strings.Replace(allocation(2), "]}", `],"NextToken":"x"}`, 1)))...)...).code)
	require.Equal(t, all, d.held("-p", "cloud"))
	d.done(aws(append(files, first, put("ipam-pool-02-allocations.json", `{"IpamPoolAllocations":[]}`))...)...)
	require.Len(t, d.held("-p", "cloud"), 1, "an answer that is whole is believed")
}

// A mirror releases nothing if a file is missing that an earlier pass had. Without that file, all its rows would seem to be gone.
func TestMirrorWithoutAFileOfAnEarlierPassReleasesNothing(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	for name, c := range map[string]struct{ of, first, second string }{
		"netbox":      {"netbox", `[{"id":1,"prefix":"10.88.0.0/24"}]`, `[{"id":1,"address":"10.88.0.1/24"},{"id":2,"address":"10.88.0.2/24"}]`},
		"netboxlists": {"netbox", `{"prefixes":[{"id":1,"prefix":"10.88.0.0/24"}]}`, `{"ip-addresses":[{"id":1,"address":"10.88.0.1/24"}]}`},
		"netboxcsv":   {"netbox", "Prefix,VRF\n10.88.0.0/24,\n", "IP Address,VRF\n10.88.0.1/24,\n"},
		"aws":         {"aws", `{"Vpcs":[{"VpcId":"vpc-1","CidrBlock":"10.88.0.0/24"}]}`, `{"Subnets":[{"SubnetId":"subnet-1","CidrBlock":"10.88.0.0/28"}]}`},
		"awsregions":  {"aws", `{"Subnets":[{"SubnetId":"subnet-1","CidrBlock":"10.88.0.0/28"}]}`, `{"Subnets":[{"SubnetId":"subnet-2","CidrBlock":"10.88.0.16/28"}]}`},
		"phpipam":     {"phpipam", "Section;Subnet\nA;10.88.0.0/24\n", "Section;IP Address\nA;10.88.0.1\n"},
		"infoblox":    {"infoblox", "header-network,address*,netmask*\nnetwork,10.88.0.0,255.255.255.0\n", "header-fixedaddress,ip_address*\nfixedaddress,10.88.0.1\n"},
		"csv":         {"csv", "cidr,name\n10.88.0.0/24,a\n", "address,name\n10.88.0.1,b\n"},
		"whereabouts": {"whereabouts", `{"items":[{"kind":"IPPool","metadata":{"name":"a"},"spec":{"range":"10.88.0.0/24"}}]}`,
			`{"items":[{"kind":"IPPool","metadata":{"name":"b"},"spec":{"range":"10.88.1.0/24","allocations":{"1":{"podref":"x/y"}}}}]}`},
	} {
		d.done("project", "create", name)
		first, second := written(t, "first", c.first), written(t, "second", c.second)
		mirror := func(args ...string) result {
			return d.run(append([]string{"-p", name, "shadow", "mirror", c.of, "--root", "all=10.88.0.0/16", "--max-removals", "90%", first}, args...)...)
		}
		require.Equal(t, 0, mirror(second).code, name)
		here := func() string {
			return d.done("-p", name, "pool", "list", "-q").out + d.done("-p", name, "claim", "list", "-q").out
		}
		all := here()
		for range 3 {
			d.rewrite(first, c.first) // the same table is written a second time
			r := mirror()
			require.Equal(t, 4, r.code, name)
			require.Contains(t, r.err, "nothing is released: no file has ", name)
			require.Equal(t, all, here(), name)
		}
		require.Equal(t, 0, mirror(second).code, name)
		require.Equal(t, 0, mirror("--allow-removals").code, name)
		require.NotEqual(t, all, here(), name)
		require.Equal(t, 0, mirror().code, "%s: the removal is known", name)
	}
}
