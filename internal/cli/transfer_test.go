package cli_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// written writes a text into a new file and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// outcomes counts the rows of a report by their outcome. Every row of the source must have an outcome.
func outcomes(t *testing.T, path string) map[string]int {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	counts := map[string]int{}
	for _, r := range rows[1:] {
		counts[r[3]]++
	}
	return counts
}

// A table from the web console contains no classes. It names the space only for root pools. The import can still create an equal project from it.
func TestConsoleTableIsImportedUnchanged(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("project", "create", "office")
	d.done("class", "create", "web", "--ip-family", "IPv4", "-p", "office")
	table := filepath.Join("source", "testdata", "console.csv")
	require.Contains(t, d.done("import", "csv", table, "-p", "office").out, "12 rows: 12 created")
	requireGolden(t, "console-imported", d.done("export", "-p", "office").out)
	require.Contains(t, d.done("import", "csv", table, "-p", "office").out, "12 rows: 12 same")

	// A table that has only claims uses the pools on the server, in any space.
	text, err := os.ReadFile(table)
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(text), "\n")
	d.in = head + "\nclaim,late,10.80.16.10/32,shelf,,,,,,\n"
	require.Contains(t, d.done("import", "csv", "-", "-p", "office").out, "1 row: 1 created")
	require.Contains(t, d.done("export", "-p", "office").out, "claim,lab,late,shelf,10.80.16.10/32")
}

func TestImportReportsDifferentSpacesAndClasses(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("project", "create", "office")
	d.done("space", "create", "lab", "-p", "office", "--label", "rack=1", "--description", "old")
	d.done("class", "create", "web", "--ip-family", "IPv4", "--default-prefix-length", "28", "-p", "office")
	rows := func(space, class string) string {
		return "kind,space,name,parent,block,description,labels,annotations,spec\nspace,,lab,,," + space + ",,\nclass,,web,,,,," + class + "\n"
	}
	d.in = rows("old,rack=1", `,"{""ipFamily"":""IPv4"",""defaultPrefixLength"":28}"`)
	require.Contains(t, d.done("import", "csv", "-", "-p", "office").out, "2 rows: 2 same")
	d.in = rows("new,rack=2", `,"{""ipFamily"":""IPv4"",""defaultPrefixLength"":26}"`)
	r := d.run("import", "csv", "-", "-p", "office")
	require.Contains(t, r.out, "2 rows: 2 differs")
	require.Contains(t, r.out, `label rack is "1", not "2"; the description is "old", not "new"`)
	require.Contains(t, r.out, "defaultPrefixLength is 28")
	require.Equal(t, 4, r.code)
}

func TestExportsForOtherTools(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("project", "create", "team-b")
	d.in = "kind,space,name,parent,block,description,labels,annotations,spec\n" +
		"space,,lab,,,\"Laboratory \"\"${x}\"\"\",env=lab,,\n" +
		"class,,web,,,,,,\"{\"\"ipFamily\"\":\"\"IPv4\"\",\"\"allowedPrefixLengths\"\":{\"\"min\"\":24,\"\"max\"\":32}}\"\n" +
		"pool,lab,10-net,,10.0.0.0/16,Net,,,\"{\"\"classNames\"\":[\"\"web\"\"],\"\"reservations\"\":[{\"\"first\"\":4,\"\"reason\"\":\"\"gw\"\"}]}\"\n" +
		"claim,lab,one,10-net,10.0.1.0/28,,env=prod,,\"{\"\"className\"\":\"\"web\"\"}\"\n" +
		"claim,lab,two,10-net,10.0.2.7/32,,,,\"{\"\"ownerRef\"\":{\"\"kind\"\":\"\"VM\"\",\"\"name\"\":\"\"v\"\",\"\"uid\"\":\"\"u1\"\"}}\"\n"
	d.done("import", "csv", "-", "-p", "team-b")
	d.done("consumer", "attach", "one", "vm.1", "--realm", "rack", "-p", "team-b")
	d.done("alert-rule", "create", "full", "--about", "pools", "--percent", "80%", "--class", "web", "--label", "on=call", "-p", "team-b")
	d.env["CARVE_OUTPUT"] = "json" // applies to tables
	requireGolden(t, "export-terraform", d.done("export", "-o", "terraform", "-p", "team-b").out)
	require.Equal(t, 2, d.run("export", "-o", "netbox-csv", "-p", "team-b").code)
	to := filepath.Join(t.TempDir(), "netbox")
	d.done("export", "-o", "netbox-csv", "--to", to, "-p", "team-b")
	requireNetBoxTakes(t, to)
	for name, want := range map[string]string{
		"vrfs.csv":         "name,description\nlab,\"Laboratory \"\"${x}\"\"\"\n",
		"prefixes.csv":     "prefix,vrf,status,description\n10.0.0.0/16,lab,active,Net\n10.0.1.0/28,lab,active,one\n",
		"ip-ranges.csv":    "start_address,end_address,vrf,status,description\n10.0.0.0/16,10.0.0.3/16,lab,reserved,gw\n",
		"ip-addresses.csv": "address,vrf,status,dns_name,description\n10.0.2.7/32,lab,active,two,two\n",
	} {
		text, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
}

const netboxDump = `[
{"model":"ipam.vrf","pk":1,"fields":{"name":"Alpha"}},
{"model":"tenancy.tenant","pk":5,"fields":{"name":"Dunder Mifflin"}},
{"model":"ipam.aggregate","pk":1,"fields":{"prefix":"10.0.0.0/8"}},
{"model":"ipam.prefix","pk":1,"fields":{"prefix":"10.1.0.0/22","status":"active","tenant":5,"description":"Office"}},
{"model":"ipam.prefix","pk":2,"fields":{"prefix":"172.16.0.0/16","status":"container","vrf":1}},
{"model":"ipam.iprange","pk":1,"fields":{"start_address":"10.1.1.0/22","end_address":"10.1.1.199/22","status":"reserved","description":"DHCP"}},
{"model":"ipam.ipaddress","pk":1,"fields":{"address":"10.1.0.1/22","status":"active","dns_name":"gw.example.com"}},
{"model":"ipam.ipaddress","pk":2,"fields":{"address":"10.1.1.7/22","status":"dhcp"}},
{"model":"ipam.ipaddress","pk":3,"fields":{"address":"10.1.0.1/22","status":"active"}},
{"model":"ipam.ipaddress","pk":4,"fields":{"address":"172.16.0.1/16","status":"active","vrf":1}},
{"model":"ipam.ipaddress","pk":5,"fields":{"address":"192.0.2.1/24","status":"active"}},
{"model":"ipam.ipaddress","pk":6,"fields":{"address":"192.0.2.300/24","status":"active"}}
]`

func TestImportRefusesDuplicatesWithoutAPolicy(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("pool", "delete", "prod")
	file, report := written(t, "dump.json", netboxDump), filepath.Join(t.TempDir(), "report.csv")
	r := d.run("import", "netbox", file, "--report", report)
	require.Equal(t, 4, r.code)
	require.Contains(t, r.err, "nothing was imported")
	require.Equal(t, map[string]int{"no block": 2, "refused": 6, "not reached": 4}, outcomes(t, report))
	require.Empty(t, d.done("pool", "list", "-q").out)

	r = d.run("import", "netbox", file, "--on-duplicate", "first", "--on-overlap", "narrow", "--dry-run")
	require.Equal(t, 4, r.code, r.err)
	require.Contains(t, r.out, "12 rows: 2 no block, 1 skipped, 7 to create, 2 refused")
	require.Empty(t, d.done("pool", "list", "-q").out)

	r = d.run("import", "netbox", file, "--on-duplicate", "first", "--on-overlap", "narrow", "--report", report)
	require.Equal(t, 4, r.code, "two rows were not taken")
	require.Contains(t, r.out, "no pool contains it")
	require.Equal(t, map[string]int{"no block": 2, "skipped": 1, "created": 7, "refused": 2}, outcomes(t, report))
	var pool struct {
		Metadata struct{ Labels, Annotations map[string]string }
		Spec     struct {
			Reservations []struct{ From, To, Reason string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(d.done("pool", "get", "10-1-0-0-22", "-o", "json").out), &pool))
	require.Equal(t, map[string]string{"status": "active", "tenant": "Dunder-Mifflin"}, pool.Metadata.Labels)
	require.Len(t, pool.Spec.Reservations, 2, "the range lies around an address")
	require.Equal(t, "10.1.1.8", pool.Spec.Reservations[1].From)
	require.Equal(t, "10.1.0.1/32\n", d.done("claim", "get", "gw-example-com", "-q").out)

	d.run("import", "netbox", file, "--on-duplicate", "first", "--on-overlap", "narrow", "--report", report)
	require.Equal(t, map[string]int{"no block": 2, "skipped": 1, "same": 7, "refused": 2}, outcomes(t, report))
}

func TestEditedMappingDecidesTheImportOfRows(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.done("project", "create", "team-b")
	d.done("pool", "delete", "prod")
	file, mapping := written(t, "dump.json", netboxDump), filepath.Join(t.TempDir(), "mapping.yaml")
	d.done("import", "netbox", file, "--write-mapping", mapping)
	require.Equal(t, 2, d.run("import", "netbox", file, "--write-mapping", mapping).code, "it is not written over")
	text, err := os.ReadFile(mapping)
	require.NoError(t, err)
	edited := strings.NewReplacer("space: alpha", "space: blue\n    project: team-b", "as: reservation", "as: claims",
		"onDuplicate: refuse", "onDuplicate: first", "onOverlap: refuse", "onOverlap: narrow", "tenant: tenant", "who: tenant",
		"  - match: {kind: address}\n", "  - match: {kind: address, status: \"dhcp,deprecated\"}\n    as: skip\n"+
			"  - match: {kind: address}\n").Replace(string(text))
	require.NoError(t, os.WriteFile(mapping, []byte(edited), 0o600))
	r := d.run("import", "netbox", file, "--mapping", mapping)
	require.Equal(t, 4, r.code)
	require.Contains(t, r.out, "2 skipped")
	require.Equal(t, "172-16-0-1\n", d.done("claim", "list", "-p", "team-b", "-q").out)
	require.Contains(t, d.done("pool", "list", "-p", "team-b", "-o", "wide").out, "blue")
	require.Contains(t, d.done("claim", "list", "-q").out, "10-1-1-0-10-1-1-199-1\n", "a range that is no CIDR is several claims")

	for wrong, says := range map[string]string{
		"rules: [{as: pond}]": "must be one of", "rule: []": "field rule not found", "source: csv": "it is a mapping for csv",
	} {
		d.in = "source: netbox\n" + wrong
		if strings.HasPrefix(wrong, "source") {
			d.in = wrong
		}
		r := d.run("import", "netbox", file, "--mapping", "-")
		require.Equal(t, 2, r.code)
		require.Contains(t, r.err, says)
	}
}

// killing lets some requests that write through. It then ends the command in the middle of such a request. The requests in progress still take
// effect, and over waits for them.
func killing(t *testing.T, target string, after int32) (url string, ctx context.Context, over func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var seen atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req := r.Clone(context.WithoutCancel(r.Context()))
		req.URL.Scheme, req.URL.Host, req.RequestURI = "http", strings.TrimPrefix(target, "http://"), ""
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer resp.Body.Close()
		if r.Method != http.MethodGet && seen.Add(1) > after {
			cancel() // the request took effect, but the client gets no response
			panic(http.ErrAbortHandler)
		}
		maps.Copy(w.Header(), resp.Header)
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body) // the client may have disconnected
	}))
	t.Cleanup(s.Close)
	return s.URL, ctx, s.Close
}

func TestKilledImportResumesWithoutDuplicates(t *testing.T) {
	t.Parallel()
	d := served(t)
	var b strings.Builder
	b.WriteString("cidr,name\n10.0.0.0/17,half\n")
	const claims = 2500
	for n := range claims {
		fmt.Fprintf(&b, "10.0.%d.%d/32,host-%d\n", n/250, n%250, n)
	}
	file, report := written(t, "hosts.csv", b.String()), filepath.Join(t.TempDir(), "report.csv")
	server := d.env["CARVE_SERVER"]
	for _, after := range []int32{0, 0, 0} {
		url, ctx, over := killing(t, server, after)
		d.env["CARVE_SERVER"] = url
		require.NotZero(t, d.runUntil(ctx, io.Discard, io.Discard, "import", "csv", file, "--parallel", "1", "--report", report))
		over()
		sum := 0
		for _, n := range outcomes(t, report) {
			sum += n
		}
		require.Equal(t, claims+1, sum, "a report accounts for every row, also of an import that was killed")
	}
	d.env["CARVE_SERVER"] = server
	d.done("import", "csv", file, "--report", report)
	require.Equal(t, claims+1, outcomes(t, report)["created"]+outcomes(t, report)["same"])
	require.Equal(t, claims, strings.Count(d.done("claim", "list", "-q").out, "\n"))
	require.Equal(t, map[string]int{"same": claims + 1}, func() map[string]int {
		d.done("import", "csv", file, "--report", report)
		return outcomes(t, report)
	}())
}

// The import waits for a busy server for the time that the server asks for. It does so any number of times.
func TestImportWaitsForABusyServer(t *testing.T) {
	t.Parallel()
	d := served(t)
	target := strings.TrimPrefix(d.env["CARVE_SERVER"], "http://")
	var answers atomic.Int64
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", target },
		ModifyResponse: func(resp *http.Response) error {
			if n := answers.Add(1); resp.Request.Method != http.MethodPost || n%12 == 0 {
				return nil
			}
			resp.StatusCode, resp.Body = http.StatusTooManyRequests, io.NopCloser(bytes.NewReader(example(t, "ProblemRateLimited")))
			resp.Header = http.Header{"Content-Type": {"application/problem+json"}, "Retry-After": {"3"}}
			return nil
		},
	})
	t.Cleanup(s.Close)
	d.env["CARVE_SERVER"] = s.URL
	d.in = "cidr,name\n10.0.1.0/24,one\n10.0.2.0/24,two\n"
	require.Contains(t, d.done("import", "csv", "-").out, "2 rows: 2 created")
	require.NotEmpty(t, d.pauses)
	for _, pause := range d.pauses {
		require.GreaterOrEqual(t, pause, 3*time.Second)
	}
}

func TestImportCanBeRepeatedAfterDeletion(t *testing.T) {
	t.Parallel()
	d := served(t)
	d.in = "cidr,name\n11.9.0.0/16,nine\n11.9.1.0/24,one\n11.9.2.0/24,two\n"
	for range 2 {
		require.Contains(t, d.done("import", "csv", "-", "--root", "eleven=11.0.0.0/8").out, "3 created")
		d.done("claim", "delete", "one", "two")
		d.done("pool", "delete", "nine", "eleven")
	}
}

// Another caller has imported the same file and has deleted the objects. The import still succeeds, although the server has stored responses of that
// caller for the same keys.
func TestImportCanBeRepeatedByAnotherCaller(t *testing.T) {
	t.Parallel()
	d := served(t)
	target := strings.TrimPrefix(d.env["CARVE_SERVER"], "http://")
	var keys sync.Map // maps the body of a request to the key of its first request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		key := r.Header.Get("Idempotency-Key")
		if first, _ := keys.LoadOrStore(r.URL.Path+string(body), key); r.Method == http.MethodPost && first == key {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write(example(t, "ProblemIdempotencyMismatch"))
			return
		}
		(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", target }}).ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	d.env["CARVE_SERVER"] = s.URL
	d.in = "cidr,name\n11.9.0.0/16,nine\n11.9.1.0/24,one\n11.9.2.0/24,two\n"
	require.Contains(t, d.done("import", "csv", "-", "--root", "eleven=11.0.0.0/8").out, "3 created")
}

func TestLiveNetBoxIsImported(t *testing.T) {
	t.Parallel()
	d := served(t)
	busy := true
	var box *httptest.Server
	box = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token 0123" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if busy {
			busy = false
			w.Header().Set("Retry-After", "2")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		page := filepath.Join("testdata", "netbox", strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/ipam/"), "/")+r.URL.Query().Get("offset")+".json")
		text, err := os.ReadFile(page)
		if err != nil {
			text = []byte(`{"count":0,"next":null,"previous":null,"results":[]}`)
		}
		_, _ = w.Write([]byte(strings.ReplaceAll(string(text), "http://netbox", box.URL)))
	}))
	t.Cleanup(box.Close)
	d.env["NETBOX_TOKEN"] = "0123"
	r := d.done("import", "netbox", "--url", box.URL)
	require.Contains(t, r.out, "7 rows: 1 no block, 6 created")
	require.Equal(t, "10.112.129.1/32\n", d.done("claim", "get", "gw1-example-com", "-q").out)
	require.Len(t, d.pauses, 1)

	r = d.run("import", "netbox", "--url", "http://netbox.example.com")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "is plain http, so others on the network can read the credential")

	d.env["NETBOX_TOKEN"] = "wrong"
	r = d.run("import", "netbox", "--url", box.URL)
	require.Equal(t, 1, r.code)
	require.Contains(t, r.err, "NetBox returned 403 Forbidden for /api/ipam/vrfs/")
}
