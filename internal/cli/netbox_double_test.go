package cli_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// netbox is a fake NetBox. It uses the formats of recorded responses (testdata/netbox). A test can change its rows and damage its responses.
type netbox struct {
	*httptest.Server
	t *testing.T

	mu   sync.Mutex
	rows map[string][]map[string]any // by endpoint
	last int
	size int // number of rows on a page
	// page is called before each response and may change the rows. If it writes a response itself, it returns true.
	page func(endpoint string, offset int, w http.ResponseWriter) bool
	read int // number of times that a list of addresses was started
}

func newNetBox(t *testing.T) *netbox {
	t.Helper()
	b := &netbox{t: t, rows: map[string][]map[string]any{}, size: 3}
	b.Server = httptest.NewServer(b)
	t.Cleanup(b.Close)
	return b
}

// ServeHTTP responds with one page of a list.
func (b *netbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Header.Get("Authorization") != "Token 0123" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	endpoint := strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/ipam/"), "/")
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	if endpoint == "ip-addresses" && offset == 0 {
		b.read++
	}
	if b.page != nil && b.page(endpoint, offset, w) {
		return
	}
	all := b.rows[endpoint]
	page := map[string]any{"count": len(all), "next": nil, "previous": nil}
	end := min(offset+b.size, len(all))
	page["results"] = append([]map[string]any{}, all[min(offset, end):end]...)
	if end < len(all) {
		page["next"] = fmt.Sprintf("%s/api/ipam/%s/?limit=500&offset=%d", b.URL, endpoint, end)
	}
	assert.NoError(b.t, json.NewEncoder(w).Encode(page))
}

// add adds a prefix, an address or a range ("first-last"). If vrf is empty, the row is in no VRF.
func (b *netbox) add(where, vrf, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	row := map[string]any{"id": b.last, "vrf": nil, "tenant": nil, "description": "", "tags": []any{}, "custom_fields": map[string]any{}}
	row["status"] = map[string]any{"value": "active", "label": "Active"}
	if vrf != "" {
		row["vrf"] = map[string]any{"id": 1, "name": vrf, "rd": nil}
	}
	endpoint := "ip-addresses"
	switch first, last, isRange := strings.Cut(where, "-"); {
	case isRange:
		endpoint, row["start_address"], row["end_address"], row["description"] = "ip-ranges", first+"/24", last+"/24", name
	case strings.Contains(where, "/"):
		endpoint, row["prefix"], row["description"] = "prefixes", where, name
	default:
		row["address"], row["dns_name"] = where+"/24", name
	}
	b.rows[endpoint] = append(b.rows[endpoint], row)
}

// at returns the block of a row.
func at(row map[string]any) string {
	for _, member := range []string{"prefix", "address", "start_address"} {
		if text, is := row[member].(string); is {
			if member == "prefix" {
				return text
			}
			return strings.SplitN(text, "/", 2)[0]
		}
	}
	return ""
}

// remove removes the rows with the given blocks.
func (b *netbox) remove(where ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lose(where...)
}

// lose does the work of remove for a caller that has the lock.
func (b *netbox) lose(where ...string) {
	for endpoint := range b.rows {
		b.rows[endpoint] = slices.DeleteFunc(b.rows[endpoint], func(row map[string]any) bool { return slices.Contains(where, at(row)) })
	}
}

// edit sets a member of the rows with a block.
func (b *netbox) edit(where, member string, value any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, rows := range b.rows {
		for _, row := range rows {
			if at(row) == where {
				row[member] = value
			}
		}
	}
}

// addresses returns all addresses in order.
func (b *netbox) addresses() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []netip.Addr
	for _, row := range b.rows["ip-addresses"] {
		all = append(all, netip.MustParseAddr(at(row)))
	}
	slices.SortFunc(all, netip.Addr.Compare)
	out := make([]string, len(all))
	for n, a := range all {
		out[n] = a.String() + "/32"
	}
	return out
}
