package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fresh returns a command line with a project without pools.
func fresh(t *testing.T) *double {
	t.Helper()
	d := served(t)
	d.done("pool", "delete", "prod")
	return d
}

// A stray quotation mark hides the rows after it. The command must not import any row of such a file.
func TestFileWithAStrayQuotationMarkIsNotImported(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	for name, text := range map[string]string{
		"csv": "cidr,name,description\n10.0.0.0/16,site,main site\n10.0.1.0/24,rack-a,\"19\" rack, row 4\n10.0.2.0/24,rack-b,\"racks of the second row\n" +
			"10.0.3.0/24,rack-c,third row\n",
		"phpipam":  "Section;Subnet;Description\nA;10.0.0.0/16;\"19\" rack\nA;10.0.1.0/24;\"x\n",
		"infoblox": "header-network,address*,netmask*,comment\nnetwork,10.0.0.0,255.255.0.0,\"19\" rack\nnetwork,10.0.1.0,255.255.255.0,\"x\n",
		"netbox":   "Prefix,VRF,Description\n10.0.0.0/16,Global,\"19\" rack\n10.0.1.0/24,Global,\"x\n",
		"aws":      "ip_prefix,region\n10.0.0.0/16,\"19\" rack\n10.0.1.0/24,\"x\n",
	} {
		for _, verb := range [][]string{{"import", name}, {"shadow", "mirror", name}} {
			r := d.run(append(verb, written(t, "file.csv", text))...)
			require.Equal(t, 2, r.code, "%s: %s", name, r.out)
			require.Regexp(t, `file\.csv:\d+`, r.err)
		}
	}
	require.Empty(t, d.done("pool", "list", "-q").out)
}

// Two VRFs of NetBox may have the same name. A VRF's name need not be a DNS label, and different names may become the same space name. The addresses
// of two VRFs must never share a space.
func TestRoutingDomainsOfTheSourceAreNeverMerged(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	prefix := func(id int, cidr, vrf string) string {
		return fmt.Sprintf(`{"id":%d,"url":"https://nb/api/ipam/prefixes/%d/","prefix":%q,"vrf":%s}`, id, id, cidr, vrf)
	}
	page := func(rows ...string) string { return `{"results":[` + strings.Join(rows, ",") + `]}` }
	vrf := func(id int, name, rd string) string {
		if rd == "" {
			return fmt.Sprintf(`{"id":%d,"name":%q,"rd":null}`, id, name)
		}
		return fmt.Sprintf(`{"id":%d,"name":%q,"rd":%q}`, id, name, rd)
	}
	long := strings.Repeat("a", 66)
	for name, c := range map[string]struct {
		text string
		says []string
	}{
		"OneName":       {page(prefix(1, "10.0.0.0/16", vrf(11, "GUEST", "65000:10")), prefix(2, "10.0.1.0/24", vrf(12, "GUEST", "65001:10"))), []string{"GUEST (65000:10)", "GUEST (65001:10)"}},
		"OneBlock":      {page(prefix(1, "10.0.0.0/16", vrf(11, "GUEST", "65000:10")), prefix(2, "10.0.0.0/16", vrf(12, "GUEST", "65001:10"))), []string{"GUEST (65000:10)", "GUEST (65001:10)"}},
		"NoRDs":         {page(prefix(1, "10.0.0.0/16", vrf(11, "GUEST", "")), prefix(2, "10.0.1.0/24", vrf(12, "GUEST", ""))), []string{"GUEST (id 11)", "GUEST (id 12)"}},
		"OneLabel":      {page(prefix(1, "10.0.0.0/16", vrf(11, "Prod_A", "")), prefix(2, "10.0.1.0/24", vrf(12, "prod.a", ""))), []string{`"Prod_A"`, `"prod.a"`}},
		"LongNames":     {page(prefix(1, "10.0.0.0/16", vrf(11, long+"-blue", "")), prefix(2, "10.0.1.0/24", vrf(12, long+"-red", ""))), []string{"-blue", "-red"}},
		"NotASCII":      {page(prefix(1, "10.0.0.0/16", "null"), prefix(2, "10.0.1.0/24", vrf(12, "生产", ""))), []string{`"生产"`, "spaces"}},
		"CalledDefault": {page(prefix(1, "10.0.0.0/16", "null"), prefix(2, "10.0.1.0/24", vrf(12, "Default", ""))), []string{`"Default"`, "spaces"}},
		"Dump": {`[{"model":"ipam.vrf","pk":11,"fields":{"name":"GUEST","rd":"65000:10"}},{"model":"ipam.vrf","pk":12,"fields":{"name":"GUEST","rd":"65001:10"}},
			{"model":"ipam.prefix","pk":1,"fields":{"prefix":"10.0.0.0/16","vrf":11}},{"model":"ipam.prefix","pk":2,"fields":{"prefix":"10.0.1.0/24","vrf":12}}]`,
			[]string{"GUEST (65000:10)", "GUEST (65001:10)"}},
	} {
		d.done("project", "create", strings.ToLower(name))
		in := []string{"-p", strings.ToLower(name)}
		file := written(t, "nb.json", c.text)
		r := d.run(append(in, "import", "netbox", file)...)
		require.Equal(t, 2, r.code, "%s: %s", name, r.out)
		for _, say := range c.says {
			require.Contains(t, r.err, say, name)
		}
		require.Equal(t, 2, d.run(append(in, "shadow", "mirror", "netbox", file)...).code, name)
		require.Empty(t, d.done(append(in, "pool", "list", "-q")...).out)

		mapping := filepath.Join(t.TempDir(), "mapping.yaml")
		d.done(append(in, "import", "netbox", file, "--write-mapping", mapping)...)
		require.Contains(t, d.done(append(in, "import", "netbox", file, "--mapping", mapping)...).out, "2 created", name)
		require.Len(t, d.spaces(in...), 2, "each has a space of its own: %s", name)
	}

	// A VRF named Global is an ordinary VRF. Later imports find the space of a VRF by the name that the space stores.
	file := written(t, "nb.json", page(prefix(1, "10.0.0.0/16", "null"), prefix(2, "10.0.0.0/16", vrf(12, "Global", "")), prefix(3, "10.0.0.0/16", vrf(13, "Prod_A", "1:1"))))
	require.Contains(t, d.done("import", "netbox", file).out, "3 created")
	require.Equal(t, []string{"default", "global", "prod-a"}, d.spaces())
	require.Contains(t, d.done("space", "get", "prod-a", "-o", "yaml").out, "source-name: Prod_A (1:1)")
	r := d.run("import", "netbox", written(t, "nb.json", page(prefix(9, "10.9.0.0/16", vrf(14, "prod.a", "")))))
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, `the space prod-a was created for the routing domain "Prod_A (1:1)"`)
	require.Contains(t, d.done("import", "netbox", written(t, "nb.csv", "Prefix,VRF\n10.8.0.0/16,Prod_A (1:1)\n")).out, "1 created")
	require.Contains(t, d.done("import", "netbox", written(t, "nb.csv", "prefix,vrf.rd\n10.7.0.0/16,9:9\n")).out, "1 created")
	require.Equal(t, []string{"9-9", "default", "global", "prod-a"}, d.spaces(), "a VRF of which the RD alone is known is not the global table")
}

// spaces returns the spaces of a project that contain pools.
func (d *double) spaces(args ...string) []string {
	d.t.Helper()
	var list struct {
		Items []struct {
			Status struct{ SpaceRef struct{ Name string } }
		}
	}
	require.NoError(d.t, json.Unmarshal([]byte(d.done(append(args, "pool", "list", "-o", "json")...).out), &list))
	var all []string
	for _, i := range list.Items {
		all = append(all, i.Status.SpaceRef.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The routing domains of other sources are AWS scopes, Infoblox network views, phpIPAM VRFs, and the spaces of a table.
func TestRoutingDomainsOfOtherSourcesAreNeverMerged(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	pool := func(id, scope, cidr string) string {
		return fmt.Sprintf(`{"IpamPools":[{"IpamPoolId":%q,"IpamScopeArn":"arn:aws:ec2::1:ipam-scope/%s","IpamScopeType":"private"}],"IpamPoolId":%q,"IpamPoolCidrs":[{"Cidr":%q,"State":"provisioned"}]}`,
			id, scope, id, cidr)
	}
	one, two := written(t, "a.json", pool("ipam-pool-01", "ipam-scope-01", "10.0.0.0/8")), written(t, "b.json", pool("ipam-pool-02", "ipam-scope-02", "10.64.0.0/16"))
	scopes := written(t, "scopes.json", `{"IpamScopes":[{"IpamScopeId":"ipam-scope-01","IpamScopeType":"private","IsDefault":true},
		{"IpamScopeId":"ipam-scope-02","IpamScopeType":"private","IsDefault":false}]}`)
	twins := written(t, "twins.json", `{"IpamScopes":[{"IpamScopeId":"ipam-scope-01","Tags":[{"Key":"Name","Value":"lab"}]},{"IpamScopeId":"ipam-scope-02","Tags":[{"Key":"Name","Value":"lab"}]}]}`)
	for _, files := range [][]string{{one, two}, {one, two, twins}} {
		r := d.run(append([]string{"import", "aws"}, files...)...)
		require.Equal(t, 2, r.code, r.out)
		require.Contains(t, r.err, `"ipam-scope-01"`)
		require.Contains(t, r.err, `"ipam-scope-02"`)
	}
	require.Contains(t, d.done("import", "aws", one, two, scopes).out, "2 created")
	require.Equal(t, []string{"default", "ipam-scope-02"}, d.spaces())

	for of, text := range map[string]string{
		"infoblox": "header-network,address*,netmask*,network_view\nnetwork,10.0.0.0,255.255.0.0,Lab_1\nnetwork,10.0.1.0,255.255.255.0,lab 1\n",
		"phpipam":  "Section;Subnet;VRF\nA;10.0.0.0/16;Lab_1\nA;10.0.1.0/24;lab 1\n",
		"csv":      "cidr,space\n10.0.0.0/16,Lab_1\n10.0.1.0/24,lab 1\n",
	} {
		r := d.run("import", of, written(t, "file", text))
		require.Equal(t, 2, r.code, r.out)
		require.Contains(t, r.err, `"Lab_1"`)
		require.Contains(t, r.err, `"lab 1"`)
	}
	require.Contains(t, d.done("import", "csv", written(t, "file", "cidr,space\n10.1.0.0/16,default\n10.1.1.0/24,\n"), "--dry-run", "-o", "json").out, `"space": "default"`)
}

// A host in one network view keeps its address, even if another view lists the same address.
func TestHostOfOneViewIsKeptWhenAnotherViewListsItsAddress(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	const table = `header-network,address*,netmask*,network_view
network,10.5.0.0,255.255.255.0,default
network,10.5.0.0,255.255.255.0,lab
header-hostrecord,fqdn*,view,addresses,configure_for_dns,network_view
hostrecord,app.corp.example,default,10.5.0.10,True,default
hostrecord,app.lab.example,lab,10.5.0.10,True,lab
hostrecord,db.lab.example,lab,10.5.0.11,True,lab
`
	const listed = "header-hostaddress,address*,parent*,mac_address,network_view\nhostaddress,10.5.0.10,app.corp.example,00:00:5e:00:53:01,default\n"
	file := written(t, "i6.csv", table)
	d.done("shadow", "mirror", "infoblox", file)
	require.Equal(t, []string{"10.5.0.10/32", "10.5.0.10/32", "10.5.0.11/32"}, d.held())
	for range 3 {
		d.rewrite(file, table+listed)
		d.done("shadow", "mirror", "infoblox", file)
		require.Equal(t, []string{"10.5.0.10/32", "10.5.0.10/32", "10.5.0.11/32"}, d.held())
	}
	require.Equal(t, 4, d.run("claim", "create", "newbox", "--pool", "10-5-0-0-24-lab", "--address", "10.5.0.10").code)
	// If a row has no view, it belongs to the view of its host. The host may be in another file.
	d.done("project", "create", "split")
	rest := written(t, "rest.csv", "header-hostaddress,address*,parent*\nhostaddress,10.5.0.11,db.lab.example\n")
	require.Contains(t, d.done("import", "infoblox", rest, file, "-p", "split").out, "no block")
	require.Contains(t, d.done("claim", "get", "db-lab-example", "-p", "split", "-o", "yaml").out, "name: 10-5-0-0-24-lab")
}

// rewrite writes a file again with a later modification time.
func (d *double) rewrite(path, text string) {
	d.t.Helper()
	is, err := os.Stat(path)
	require.NoError(d.t, err)
	require.NoError(d.t, os.WriteFile(path, []byte(text), 0o600))
	require.NoError(d.t, os.Chtimes(path, time.Time{}, is.ModTime().Add(time.Second)))
}

func TestOverlappingRangesFollowThePolicy(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	const rows = `[{"id":1,"prefix":"198.51.100.0/24","url":"/ipam/prefixes/"},
		{"id":1,"start_address":"198.51.100.150/24","end_address":"198.51.100.220/24"},{"id":2,"start_address":"198.51.100.100/25","end_address":"198.51.100.200/25"}]`
	file := written(t, "i9b.json", rows)
	for policy, want := range map[string][]string{
		"refuse": {"198.51.100.150-198.51.100.220 refused", "198.51.100.100-198.51.100.200 refused"},
		"skip":   {"198.51.100.150-198.51.100.220 skipped", "198.51.100.100-198.51.100.200 skipped"},
		"first":  {"198.51.100.150-198.51.100.220 to create", "198.51.100.100-198.51.100.200 skipped"},
		"narrow": {"198.51.100.150-198.51.100.220 to create", "198.51.100.100-198.51.100.200 to create"},
	} {
		r := d.run("import", "netbox", file, "--dry-run", "--on-overlap", policy, "-o", "json")
		var doc struct {
			Items []struct{ Block, Outcome string }
		}
		require.NoError(t, json.Unmarshal([]byte(r.out), &doc), r.err)
		var got []string
		for _, i := range doc.Items[1:] {
			got = append(got, i.Block+" "+i.Outcome)
		}
		require.Equal(t, want, got, policy)
	}
	require.Equal(t, 4, d.run("import", "netbox", file).code)
	require.Empty(t, d.done("pool", "list", "-q").out, "by refuse, nothing is imported")
	d.done("import", "netbox", file, "--on-overlap", "narrow")
	var pool struct {
		Spec struct {
			Reservations []struct{ From, To string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(d.done("pool", "get", "198-51-100-0-24", "-o", "json").out), &pool))
	require.Equal(t, []struct{ From, To string }{{"198.51.100.100", "198.51.100.149"}, {"198.51.100.150", "198.51.100.220"}}, pool.Spec.Reservations, "no address of either range is free")
	require.Contains(t, d.done("import", "netbox", file, "--on-overlap", "narrow").out, "3 same")
}

func TestMappingWithAnUnknownFieldIsRefused(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	file := written(t, "hosts.csv", "cidr,name,team,rack\n10.0.0.0/16,net,a,\n")
	for mapping, says := range map[string]string{
		"source: csv\nlabels: {team: taem}":                            "labels.team names the field taem",
		"source: csv\nlabels: {cc: \"cf:nope\"}":                       "the field cf:nope",
		"source: csv\nrules: [{match: {tema: a}, as: pool}]":           "rules[0].match names the field tema",
		"source: csv\nrules: [{match: {kind: prefixx}, as: pool}]":     "use aggregate, prefix, address or range",
		"source: csv\nrules: [{as: pool, name: \"{nmae}\"}]":           "rules[0].name names the field nmae",
		"source: csv\nspaceBy: [vfr]":                                  "spaceBy names the field vfr",
		"source: csv\ncolumns: {name: Bezeichnung}":                    `columns.name of the mapping is "Bezeichnung", but no file has this column`,
		"source: csv\nlabels: {team: team}\n---\nlabels: {team: rack}": "it contains more than one document",
		"labels: {team: team}":                                         "it does not name its source: add `source: csv`",
	} {
		d.in = mapping
		r := d.run("import", "csv", file, "--mapping", "-")
		require.Equal(t, 2, r.code, mapping)
		require.Contains(t, r.err, says)
	}
	d.in = "source: csv\nlabels: {rack: rack, team: team}\nrules: [{as: pool}]\n"
	require.Contains(t, d.done("import", "csv", file, "--mapping", "-", "--dry-run").out, "1 to create", "a column without a value is known")

	r := d.run("import", "csv", written(t, "hosts.csv", "cidr,nmae,descripton\n10.0.0.0/16,net,a\n"))
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, `nothing uses the column "nmae": did you mean "name"?`)
	r = d.run("import", "csv", file, "--dry-run")
	require.Contains(t, r.err, `warning: `+file+`: nothing uses the columns "team", "rack"`)

	// The titles are in another language. The command writes a mapping, and finds the column for addresses by its content.
	german := written(t, "nb.csv", "IP-Adresse,VRF,Beschreibung\n10.0.0.5/24,Global,Drucker\n")
	r = d.run("import", "netbox", german)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "name it in `columns` of a mapping")
	mapping := filepath.Join(t.TempDir(), "mapping.yaml")
	d.done("import", "netbox", german, "--write-mapping", mapping)
	text, err := os.ReadFile(mapping)
	require.NoError(t, err)
	require.Contains(t, string(text), "address: IP-Adresse")
	require.Contains(t, d.done("import", "netbox", german, "--mapping", mapping, "--root", "ten=10.0.0.0/8", "--dry-run").out, "1 to create")
}

// Carve stores the name and the number that an object has in the source, even if the object has another name in Carve.
func TestSourceNamesAndIDsAreKept(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	d.done("import", "csv", written(t, "a.csv", "id,cidr,name\n7,10.50.0.0/16,数据中心\n8,10.50.1.0/24,Büro München\n"))
	var got []string
	for _, name := range []string{"10-50-0-0-16"} {
		got = append(got, d.done("pool", "get", name, "-o", "yaml").out)
	}
	require.Contains(t, got[0], "source-name: 数据中心")
	require.Contains(t, got[0], `source-id: "7"`)
	require.Contains(t, d.done("claim", "list", "-o", "yaml").out, "source-name: Büro München")
	latin := written(t, "b.csv", "cidr,name,description\n10.51.0.0/16,x,Geb\xe4ude f\xfcr die \xc4mter\n")
	r := d.run("import", "csv", latin)
	require.Equal(t, 2, r.code)
	require.Regexp(t, regexp.QuoteMeta(latin)+`:2:\d+: the text is not UTF-8`, r.err)
	d.done("import", "csv", latin, "--encoding", "latin1")
	require.Contains(t, d.done("pool", "get", "x", "-o", "yaml").out, "Gebäude für die Ämter")
	require.Equal(t, 2, d.run("import", "csv", latin, "--encoding", "klingon").code)
}

// The rows in one routing domain go to one space. If they would go to two spaces, the import is refused, because a block could then be used twice.
func TestRoutingDomainIsNeverDivided(t *testing.T) {
	t.Parallel()
	d := fresh(t)
	file := written(t, "file.csv", "cidr,space,scope\n10.0.0.0/16,corp,private\n10.1.0.0/16,corp,ipam-scope-1\n")
	for _, command := range [][]string{{"import"}, {"shadow", "mirror"}} {
		r := d.run(append(command, "aws", file)...)
		require.Equal(t, 2, r.code, r.out)
		require.Contains(t, r.err, `the routing domain "corp" would map to two spaces: default (file.csv:2) and ipam-scope-1 (file.csv:3)`)
	}
	require.Empty(t, d.done("pool", "list", "-q").out)
	d.in = "source: phpipam\nspaceBy: [section, vrf]\nrules: [{as: pool}]\n"
	sections := written(t, "sections.csv", "Section;Subnet;VRF\nA;10.0.0.0/16;Lab\nB;10.0.0.0/16;Lab\n")
	require.Contains(t, d.done("import", "phpipam", sections, "--mapping", "-").out, "2 created", "a mapping may divide a domain by another field")
}
