package cli_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/show"
)

var (
	exportSeed  = flag.Uint64("export.seed", 0, "first of the seeds of the projects that are exported and imported")
	exportSeeds = flag.Uint64("export.seeds", 3, "how many seeds")
)

// The test exports random projects, imports them into empty projects, and compares the projects. It compares the server's data, so it also notices an
// omission in the export. `-export.seed N -export.seeds 1` repeats a failure.
func TestExportAndImportRoundTrip(t *testing.T) {
	t.Parallel()
	d := served(t)
	for seed := *exportSeed; seed < *exportSeed+*exportSeeds; seed++ {
		from := fmt.Sprintf("random-%d", seed)
		w := &world{Rand: rand.New(rand.NewPCG(seed, 20)), t: t, d: d, project: from}
		w.fill()
		want := d.stateOf(t, from)
		for _, form := range []string{"csv", "plan"} {
			to := from + "-" + form
			d.done("project", "create", to)
			d.in = d.done("export", "-o", form, "-p", from).out
			r := d.run("import", form, "-", "-p", to)
			require.Zero(t, r.code, "seed %d as %s: %s%s", seed, form, r.out, r.err)
			require.Equal(t, want, d.stateOf(t, to), "seed %d as %s", seed, form)
			r = d.done("import", form, "-", "-p", to) // the second import changes nothing
			require.NotContains(t, r.out, "created", "seed %d as %s", seed, form)
			require.NotContains(t, r.out, "differs", "seed %d as %s", seed, form)
		}
		d.throughNetBox(t, seed, from)
	}
}

// A class may have pools in several spaces, and these pools may contain the same block. A claim by such a class could use any of the pools, so the
// export names the pool.
func TestClaimIsImportedIntoItsOriginalSpace(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.in = "kind,space,name,parent,block,description,labels,annotations,spec\n" +
		"class,,web,,,,,,\"{\"\"ipFamily\"\":\"\"IPv4\"\"}\"\n" +
		"pool,default,z,,10.0.0.0/24,,,,\"{\"\"classNames\"\":[\"\"web\"\"]}\"\n" +
		"pool,lab,b,,10.0.0.0/24,,,,\"{\"\"classNames\"\":[\"\"web\"\"]}\"\n" +
		"pool,lab,c,,10.0.1.0/24,,,,\"{\"\"classNames\"\":[\"\"web\"\"]}\"\n"
	d.done("project", "create", "first")
	d.done("import", "csv", "-", "-p", "first")
	d.done("claim", "create", "both", "-p", "first", "--class", "web", "--cidr", "10.0.0.0/28")
	d.done("claim", "create", "only", "-p", "first", "--class", "web", "--cidr", "10.0.1.0/28")
	d.done("pool", "create", "a", "-p", "first", "--cidr", "10.0.1.0/25")
	for _, form := range []string{"csv", "plan"} {
		r := d.done("export", "-o", form, "-p", "first")
		require.Contains(t, r.err, "claim both is exported as a claim from its pool: class web could also allocate from a pool of another space")
		require.NotContains(t, r.err, "claim only")
		d.in = r.out
		d.done("project", "create", "as-"+form)
		d.done("import", form, "-", "-p", "as-"+form)
		out := d.done("export", "-p", "as-"+form).out
		require.Contains(t, out, "claim,lab,both,b,10.0.0.0/28,,,,\n")
		require.Contains(t, out, `claim,lab,only,c,10.0.1.0/28,,,,"{""className"":""web""}"`)
	}
}

// list returns all objects of a kind in a project.
func (d *double) list(t *testing.T, project, collection string) (all []fields) {
	t.Helper()
	for cursor := ""; ; {
		page := d.ask(t, http.MethodGet, "/v1/projects/"+project+"/"+collection+"?limit=500"+cursor, nil)
		for _, item := range page["items"].([]any) { //nolint:forcetypeassert // which a list has
			all = append(all, item.(fields)) //nolint:forcetypeassert // of documents
		}
		next, _ := page["nextCursor"].(string)
		if next == "" {
			return all
		}
		cursor = "&cursor=" + next
	}
}

// stateOf returns the objects of a project, each as one line of JSON. It omits data that the server generates, and fields of the spec that the status
// also has.
func (d *double) stateOf(t *testing.T, project string) string {
	t.Helper()
	var out []string
	for _, kind := range []string{"spaces", "classes", "pools", "claims"} {
		for _, item := range d.list(t, project, kind) {
			line := fields{"kind": kind}
			for _, path := range []string{
				"metadata.name", "metadata.labels", "metadata.annotations", "status.allocatedCIDR", "status.parentRef.name", "status.spaceRef.name", "status.poolRef.name", "status.className",
			} {
				if value := member(item, path); value != nil {
					line[path] = value
				}
			}
			spec := item["spec"].(fields) //nolint:forcetypeassert // which all have
			for _, name := range []string{"cidr", "address", "prefixLength", "poolRef", "parentRef", "spaceRef", "className"} {
				delete(spec, name) // the status also has this field
			}
			line["spec"] = spec
			text, err := json.Marshal(line)
			require.NoError(t, err)
			out = append(out, string(text))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// member returns a member of a document by its path.
func member(doc any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		members, is := doc.(fields)
		if !is {
			return nil
		}
		doc = members[name]
	}
	return doc
}

// throughNetBox checks the data that the tables for NetBox can contain. These are blocks in their VRFs, ranges, and addresses with their names.
func (d *double) throughNetBox(t *testing.T, seed uint64, from string) {
	t.Helper()
	dir, to := filepath.Join(t.TempDir(), "netbox"), from+"-netbox"
	d.done("export", "-o", "netbox-csv", "--to", dir, "-p", from)
	requireNetBoxTakes(t, dir)
	d.done("project", "create", to)
	r := d.run("import", "netbox", filepath.Join(dir, "vrfs.csv"), filepath.Join(dir, "prefixes.csv"), filepath.Join(dir, "ip-ranges.csv"), filepath.Join(dir, "ip-addresses.csv"), "-p", to)
	require.Zero(t, r.code, "seed %d through NetBox: %s%s", seed, r.out, r.err)
	require.Equal(t, d.blocksOf(t, from), d.blocksOf(t, to), "seed %d through NetBox", seed)
}

// netBoxLines returns one line for each object that a reservation becomes in NetBox. It becomes an address or a range. If NetBox cannot count the
// addresses of the range, it becomes prefixes.
func netBoxLines(space any, first, last netip.Addr, about func(...any) string, reason string) (out []string) {
	if first == last {
		name := rules.Name(first.String())
		return []string{fmt.Sprintf("%v address %v %v %q", space, netip.PrefixFrom(first, first.BitLen()), name, about(reason, name))}
	}
	blocks := converge.Blocks(first, last)
	if !slices.ContainsFunc(blocks, func(b netip.Prefix) bool { return b.Addr().BitLen()-b.Bits() > 31 }) {
		return []string{fmt.Sprintf("%v range %v-%v %q", space, first, last, about(reason, "reserved"))}
	}
	for _, block := range blocks {
		out = append(out, fmt.Sprintf("%v prefix %v %q", space, block, about(reason, rules.Name(block.String()))))
	}
	return out
}

// blocksOf returns one line for each object of a project that NetBox also has. In NetBox, a description has one line. A claim of several addresses is
// a prefix there, like a pool.
func (d *double) blocksOf(t *testing.T, project string) string {
	t.Helper()
	var out []string
	spaces := fields{}
	about := func(texts ...any) string {
		for _, text := range texts {
			words := strings.TrimSpace(fmt.Sprint(text))
			if show.IsFormula(words) {
				words = strings.TrimLeft(words, "'=+-@ \n\r\t")
			}
			if words = strings.Join(strings.Fields(words), " "); text != nil && words != "" {
				return words
			}
		}
		return ""
	}
	for _, p := range d.list(t, project, "pools") {
		space := member(p, "status.spaceRef.name")
		spaces[fmt.Sprint(member(p, "metadata.name"))] = space
		out = append(out, fmt.Sprintf("%v prefix %v %q", space, member(p, "status.allocatedCIDR"), about(member(p, "spec.description"), member(p, "metadata.name"))))
		var pool client.IPPool
		text, err := json.Marshal(p)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &pool))
		for _, r := range pool.Spec.Reservations {
			first, last := converge.Bounds(netip.MustParsePrefix(pool.Status.AllocatedCIDR), r)
			out = append(out, netBoxLines(space, first, last, about, r.Reason)...)
		}
	}
	for _, c := range d.list(t, project, "claims") {
		space, block, name := spaces[fmt.Sprint(member(c, "status.poolRef.name"))], fmt.Sprint(member(c, "status.allocatedCIDR")), member(c, "metadata.name")
		text := about(member(c, "metadata.annotations.description"), name)
		if strings.HasSuffix(block, "/32") && !strings.Contains(block, ":") || strings.HasSuffix(block, "/128") {
			out = append(out, fmt.Sprintf("%v address %v %v %q", space, block, name, text))
		} else {
			out = append(out, fmt.Sprintf("%v prefix %v %q", space, block, text))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}
