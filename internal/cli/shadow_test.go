package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shadowed returns a command line with a real server, and a NetBox with some rows. The mirror has already copied these rows.
func shadowed(t *testing.T) (*double, *netbox) {
	t.Helper()
	d, b := served(t), newNetBox(t)
	d.done("pool", "delete", "prod")
	d.env["NETBOX_TOKEN"] = "0123"
	b.add("10.0.0.0/16", "", "Net")
	b.add("10.0.1.0/24", "", "Desks")
	b.add("10.5.0.0/16", "", "Five")
	b.add("10.0.0.0/16", "Blue", "Net of another VRF")
	for _, row := range []string{"10.0.1.1 gw", "10.0.1.2 printer", "10.0.2.9 lone", "10.5.0.1 five", "10.5.0.2 five-b"} {
		where, name, _ := strings.Cut(row, " ")
		b.add(where, "", name)
	}
	b.add("10.0.7.7", "Blue", "blue")
	b.add("10.0.1.100-10.0.1.120", "", "DHCP")
	require.Contains(t, d.done("shadow", "mirror", "netbox", "--url", b.URL).out, "netbox: 11 rows: 11 created\n")
	return d, b
}

// held returns the blocks of the claims of a project, in order.
func (d *double) held(args ...string) []string {
	d.t.Helper()
	var list struct {
		Items []struct {
			Status struct{ AllocatedCIDR netip.Prefix }
		}
	}
	require.NoError(d.t, json.Unmarshal([]byte(d.done(append([]string{"claim", "list", "-o", "json"}, args...)...).out), &list))
	var all []netip.Prefix
	for _, i := range list.Items {
		all = append(all, i.Status.AllocatedCIDR)
	}
	slices.SortFunc(all, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	out := make([]string, len(all))
	for n, p := range all {
		out[n] = p.String()
	}
	return out
}

// mirror runs the mirror. It returns the rows of its report that differ, each as "block difference outcome".
func (d *double) mirror(b *netbox, code int, args ...string) []string {
	d.t.Helper()
	r := d.run(append([]string{"shadow", "mirror", "netbox", "--url", b.URL, "-o", "json"}, args...)...)
	require.Equal(d.t, code, r.code, r.err+r.out)
	var doc struct {
		Items []struct{ Block, Difference, Outcome string }
	}
	require.NoError(d.t, json.Unmarshal([]byte(r.out), &doc), r.err)
	var out []string
	for _, i := range doc.Items {
		if i.Difference != "" {
			out = append(out, i.Block+" "+i.Difference+": "+i.Outcome)
		}
	}
	return out
}

func TestMirrorFollowsChangesOfTheSource(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	require.Contains(t, d.done("shadow", "mirror", "netbox", "--url", b.URL).out, "11 rows: 11 same\n")

	d.done("claim", "create", "mine", "--pool", "10-5-0-0-16", "--address", "10.5.0.50")
	d.done("claim", "set", "gw", "--label", "people=1", "--annotation", "note=ours")
	b.remove("10.0.1.2")
	b.edit("10.0.1.1", "status", map[string]any{"value": "dhcp"})
	b.edit("10.0.1.1", "dns_name", "gateway")
	b.edit("10.0.0.0/16", "description", "All of it")
	b.edit("10.0.1.100", "end_address", "10.0.1.130/24")
	b.add("10.5.0.3", "", "printer")
	b.add("10.5.0.50", "", "double")
	b.add("10.5.0.0-10.5.0.0", "", "one")
	want := []string{
		"10.0.0.0/16 different: changed", "10.0.1.0/24 different: changed", "10.0.0.0/16 different: changed", "10.5.0.0/16 different: changed",
		"10.0.1.100-10.0.1.130 different: changed", "10.5.0.0-10.5.0.0 different: changed", "10.0.1.1 different: changed",
		"10.5.0.3 missing here: created", "10.5.0.50 taken: taken", "10.0.1.2 missing there: released",
	}
	before := d.done("export").out
	would := strings.NewReplacer(": changed", ": to change", ": created", ": to create", ": released", ": to release").Replace(strings.Join(want, "\n"))
	require.ElementsMatch(t, strings.Split(would, "\n"), d.mirror(b, 4, "--dry-run"))
	require.Equal(t, before, d.done("export").out, "a dry run writes nothing")

	require.ElementsMatch(t, want, d.mirror(b, 4))
	require.Equal(t, []string{"10.5.0.50 taken: taken"}, d.mirror(b, 4), "what is taken is still to be told, and everything else is the same")
	gw := d.done("claim", "get", "gw", "-o", "yaml").out
	require.Contains(t, gw, "people: \"1\"")
	require.Contains(t, gw, "note: ours")
	require.Contains(t, gw, "status: dhcp")
	require.Equal(t, "10.5.0.50/32\n", d.done("claim", "get", "mine", "-q").out)
	require.Equal(t, "10.5.0.3/32\n", d.done("claim", "get", "printer", "-q").out, "the name is free again")
	require.Contains(t, d.done("pool", "get", "10-0-1-0-24", "-o", "json").out, `"to": "10.0.1.130"`)
	require.Contains(t, d.done("audit").out, "audit clean")
}

// If NetBox gets a prefix around mirrored addresses, their claims move into the new pool. If the prefix is removed, they move back.
func TestMirrorMovesItsClaimsIntoANewPool(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	all := d.held()
	b.add("10.0.2.0/24", "", "Around the lone one")
	require.ElementsMatch(t, []string{
		"10.0.2.0/24 missing here: created", "10.0.2.9 missing here: created", "10.0.2.9 missing there: released",
	}, d.mirror(b, 0))
	require.Equal(t, all, d.held())
	require.Contains(t, d.done("claim", "get", "lone", "-o", "yaml").out, "name: 10-0-2-0-24")

	b.remove("10.0.2.0/24")
	require.Contains(t, d.run("shadow", "mirror", "netbox", "--url", b.URL, "--max-removals", "1").err, "2 of the 11 mirrored things, and one pass may release at most 1")
	d.mirror(b, 0)
	require.Equal(t, all, d.held())
	require.NotContains(t, d.done("pool", "list", "-q").out, "10-0-2-0-24")
	b.add("10.0.2.0/24", "", "Around the lone one")
	d.done("shadow", "mirror", "netbox", "--url", b.URL)
	b.remove("10.0.2.0/24")
	d.done("claim", "create", "mine", "--pool", "10-0-2-0-24", "--address", "10.0.2.50")
	require.Contains(t, d.mirror(b, 4, "--allow-removals"), "10.0.2.0/24 missing there: held back", "others are in it")
	require.Equal(t, "10.0.2.50/32\n", d.done("claim", "get", "mine", "-q").out)
	d.done("claim", "delete", "mine")
	d.mirror(b, 0, "--allow-removals")
	require.Equal(t, all, d.held())
	require.Contains(t, d.done("audit").out, "audit clean")
}

// If a source has lost rows, the mirror must not release addresses that are in use. The test does each damage twice. Without the protection, the
// mirror releases claims, which proves that the protection works.
func TestSourceWithLostRowsReleasesNothing(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]struct {
		do   func(b *netbox)
		code int
		says string
	}{
		"NoAddressAtAll": {func(b *netbox) { b.rows["ip-addresses"] = nil }, 4, "no longer has 6 of the 10"},
		"Nothing":        {func(b *netbox) { clear(b.rows) }, 4, "has none of the 10 mirrored things"},
		"Half":           {func(b *netbox) { b.rows["ip-addresses"] = b.rows["ip-addresses"][:3] }, 4, "no longer has 3 of the"},
		"UnreadableRow": {func(b *netbox) {
			b.rows["ip-addresses"][1]["address"] = "10.0.1.999/24"
		}, 4, "1 row of the source cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, b := shadowed(t)
			all := d.held()
			b.mu.Lock()
			damage.do(b)
			b.mu.Unlock()
			r := d.run("shadow", "mirror", "netbox", "--url", b.URL)
			require.Equal(t, damage.code, r.code, r.out)
			require.Contains(t, r.err, damage.says)
			require.Equal(t, all, d.held())
			require.Contains(t, d.done("shadow", "status").out, "nothing is released")

			d.run("shadow", "mirror", "netbox", "--url", b.URL, "--allow-removals")
			require.Less(t, len(d.held()), len(all), "without the safety it would have been released")
		})
	}
}

// If rows change while a list is read, a row can be missing between two pages. The mirror must not release the claim of that row.
func TestRowMissedBetweenPagesIsNotReleased(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	all := d.held()
	b.mu.Lock()
	first := b.read + 1
	b.page = func(endpoint string, offset int, _ http.ResponseWriter) bool {
		if endpoint == "ip-addresses" && offset > 0 && b.read == first {
			b.lose("10.0.1.1") // the first row of this page moves to the page before, which was already read
			b.page = nil
			b.mu.Unlock()
			b.add("10.0.1.50", "", "young")
			b.mu.Lock()
		}
		return false
	}
	b.mu.Unlock()
	require.Contains(t, d.mirror(b, 4), "10.0.1.1 missing there: held back", "it was there a moment ago")
	require.Equal(t, sortedBlocks(append(all, "10.0.1.50/32")), d.held())
	require.Equal(t, []string{"10.0.1.1 missing there: released"}, d.mirror(b, 0))
	require.Equal(t, b.addresses(), d.held())
}

func sortedBlocks(list []string) []string {
	slices.SortFunc(list, func(a, b string) int { return netip.MustParsePrefix(a).Addr().Compare(netip.MustParsePrefix(b).Addr()) })
	return list
}

func TestInterruptedNetBoxReadChangesNothing(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	all := d.held()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		code   int
		says   string
	}{
		"Fails":     {func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, 5, "502 Bad Gateway"},
		"BreaksOff": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 5, "no response from NetBox"},
		"CountExceedsTheRows": {func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"count":6,"next":null,"results":[]}`)
		}, 5, "NetBox counts 6 ip-addresses, but returned 3"},
		"NotNetBox": {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "<html>Log in</html>") }, 1, "is not a response of NetBox"},
	} {
		b.mu.Lock()
		b.page = func(endpoint string, offset int, w http.ResponseWriter) bool {
			if endpoint == "ip-addresses" && offset > 0 {
				c.answer(w)
				return true
			}
			return false
		}
		b.mu.Unlock()
		r := d.run("shadow", "mirror", "netbox", "--url", b.URL)
		require.Equal(t, c.code, r.code, name)
		require.Contains(t, r.err, c.says, name)
	}
	require.Equal(t, all, d.held())
}

func TestSwitchedPoolIsNoLongerMirrored(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	over := []string{"shadow", "switch", "netbox", "--url", b.URL, "--pool"}
	d.done("claim", "create", "mine", "--pool", "10-5-0-0-16", "--address", "10.5.0.50")
	r := d.run(append(over, "10-5-0-0-16")...)
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "10.5.0.50   missing there   only here")
	require.Contains(t, r.err, "pool 10-5-0-0-16 is not switched")
	d.done("claim", "delete", "mine")
	b.add("10.5.0.4", "", "new") // the last run of the mirror creates the claim for this row
	require.Contains(t, d.done(append(over, "10-5-0-0-16")...).out, "Carve leads in pool 10-5-0-0-16 (10.5.0.0/16) since 2")
	require.Contains(t, d.done(append(over, "10-5-0-0-16")...).err, "Carve leads in pool")
	require.Equal(t, 3, d.run(append(over, "10-77-0-0-16")...).code)
	d.done("pool", "create", "other", "--cidr", "192.0.2.0/24")
	require.Contains(t, d.run(append(over, "other")...).err, "does not belong to the mirror")

	d.done("claim", "delete", "five")                                                    // released in Carve
	d.done("claim", "create", "mine", "--pool", "10-5-0-0-16", "--address", "10.5.0.50") // claimed in Carve
	b.remove("10.5.0.2")
	b.add("10.5.0.9", "", "late")
	b.edit("10.5.0.4", "status", map[string]any{"value": "dhcp"})
	b.remove("10.0.1.2") // NetBox still leads for this prefix
	for range 2 {
		require.Subset(t, []string{
			"10.5.0.1 missing here: ended here", "10.5.0.9 missing here: only there", "10.5.0.2 missing there: only here", "10.0.1.2 missing there: released",
		}, d.mirror(b, 4))
		require.Equal(t, []string{"10.5.0.2/32", "10.5.0.4/32", "10.5.0.50/32"}, d.held("--pool", "10-5-0-0-16"))
	}
	require.Equal(t, []string{"10.0.1.1/32"}, d.held("--pool", "10-0-1-0-24"))
	require.Regexp(t, `10-5-0-0-16 +10.5.0.0/16 +default +netbox +carve +2\S+Z +2 +1`, d.done("shadow", "status").out)
	b.remove("10.5.0.0/16", "10.5.0.1", "10.5.0.4", "10.5.0.9")
	d.mirror(b, 4, "--allow-removals")
	require.Equal(t, []string{"10.5.0.2/32", "10.5.0.4/32", "10.5.0.50/32"}, d.held("--pool", "10-5-0-0-16"), "whatever becomes of it there")

	require.Contains(t, d.done(append(over, "10-5-0-0-16", "--back")...).out, "netbox leads in pool 10-5-0-0-16 again")
	require.Equal(t, 4, d.run(append(over, "10-5-0-0-16", "--back")...).code)
	d.mirror(b, 4, "--allow-removals")
	require.Equal(t, []string{"10.5.0.50/32"}, d.held("--pool", "10-5-0-0-16"), "what others made stays, and so does the pool around it")
	require.Contains(t, d.done("audit").out, "audit clean")
}

func TestMirrorAdoptsImportedClaims(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("pool", "delete", "prod")
	table := "cidr,name\n10.0.0.0/16,net\n10.0.1.0/32,one\n10.0.2.0/32,two\n"
	file := written(t, "hosts.csv", table)
	d.done("import", "csv", file)
	require.Contains(t, d.done("shadow", "mirror", "csv", file).out, "3 rows: 3 same")
	less := written(t, "hosts.csv", "cidr,name\n10.0.0.0/16,net\n10.0.2.0/32,two\n")
	require.Contains(t, d.done("shadow", "mirror", "csv", less).out, "2 rows: 2 same\n", "an import's claims are not the mirror's")
	require.Len(t, d.held(), 2)
	require.Contains(t, d.done("shadow", "mirror", "csv", file, "--adopt").out, "3 changed")
	require.Contains(t, d.done("shadow", "mirror", "csv", file).out, "3 rows: 3 same")
	require.Equal(t, 4, d.run("shadow", "mirror", "csv", less).code)
	d.rewrite(less, "cidr,name\n10.0.0.0/16,net\n10.0.2.0/32,two\n")
	d.done("shadow", "mirror", "csv", less)
	require.Equal(t, []string{"10.0.2.0/32"}, d.held())
	r := d.run("shadow", "mirror", "csv", file, "--name", "second")
	require.Zero(t, r.code, r.out)
	require.Contains(t, r.out, "3 rows: 2 same, 1 created", "what another mirror made is not its own")
	require.Contains(t, d.run("shadow", "mirror", "csv", less).out, "10.0.1.0   missing there   only here")
}

func TestMirrorRunsUntilStopped(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	ctx, stop := context.WithCancel(t.Context())
	b.mu.Lock()
	begun := b.read
	b.page = func(endpoint string, offset int, w http.ResponseWriter) bool {
		if endpoint != "ip-addresses" || offset > 0 {
			return false
		}
		switch b.read - begun {
		case 2:
			w.WriteHeader(http.StatusBadGateway)
			return true
		case 4:
			stop()
		}
		return false
	}
	b.mu.Unlock()
	var out, notes bytes.Buffer
	require.Zero(t, d.runUntil(ctx, &out, &notes, "shadow", "mirror", "netbox", "--url", b.URL, "--every", "5m"))
	require.Equal(t, 2, strings.Count(out.String(), "11 rows: 11 same\n"))
	require.Equal(t, 1, strings.Count(notes.String(), "502 Bad Gateway"))
	require.Equal(t, []time.Duration{5 * time.Minute, 5 * time.Minute, 5 * time.Minute}, d.pauses)
	for _, args := range [][]string{
		{"netbox", "--url", b.URL, "--every", "1s"}, {"csv", "-", "--every", "5m"}, {"csv", "--url", b.URL}, {"plan", "x"}, {"csv", "x", "--max-removals", "110%"},
		{"csv", "x", "--max-removals", "1.5"}, {"csv", "x", "--name", "Not A Name"}, {"csv", "x", "--name", strings.Repeat("a", 60)}, {"netbox"}, {},
	} {
		require.Equal(t, 2, d.run(append([]string{"shadow", "mirror"}, args...)...).code, "%v", args)
	}
	require.Equal(t, 2, d.run("shadow", "switch", "netbox", "--url", b.URL).code)
}

func TestMirrorReportListsEveryRow(t *testing.T) {
	t.Parallel()
	d, b := shadowed(t)
	b.remove("10.0.1.2")
	report := filepath.Join(t.TempDir(), "report.csv")
	d.done("shadow", "mirror", "netbox", "--url", b.URL, "--report", report)
	require.Equal(t, map[string]int{"same": 10, "released": 1}, outcomes(t, report))
	d.done("project", "create", "empty")
	require.Contains(t, d.done("shadow", "status", "-p", "empty").err, "nothing is mirrored")
}
