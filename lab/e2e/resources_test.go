package e2e

import (
	"encoding/json"
	"math/big"
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// at returns the path of one of the project's collections, or of one object in it.
func at(collection string, name ...string) string {
	path := "/v1/projects/" + project + "/" + collection
	for _, n := range name {
		path += "/" + n
	}
	return path
}

// named returns the body that creates an object.
func named(name string, spec obj) obj { return obj{"metadata": obj{"name": name}, "spec": spec} }

// ok requires status 200.
func (c *caller) ok(t testing.TB, a answer) answer {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, string(a.body))
	return a
}

// created requires status 201. The new object must exist at the path in the header Location.
func (c *caller) created(t testing.TB, a answer) answer {
	t.Helper()
	require.Equal(t, http.StatusCreated, a.status, string(a.body))
	if location := a.header.Get("Location"); a.header.Get("Dry-Run") == "" && location != "" {
		there := c.ok(t, c.do(t, http.MethodGet, location, nil))
		require.Equal(t, a.etag(), there.etag())
	}
	return a
}

// deleted requires status 204.
func (c *caller) deleted(t testing.TB, a answer) answer {
	t.Helper()
	require.Equal(t, http.StatusNoContent, a.status, string(a.body))
	return a
}

// refused requires a refusal with a code, with the status that the contract gives to that code, and with the given pointers.
func (c *caller) refused(t testing.TB, a answer, code string, pointers ...string) problem {
	t.Helper()
	p, _ := problemOf(a)
	require.Equal(t, code, p.Code, "%d %s", a.status, a.body)
	require.Subset(t, p.pointers(), pointers, string(a.body))
	return p
}

// pool creates a pool from its spec.
func (c *caller) pool(t testing.TB, name string, spec obj) client.IPPool {
	t.Helper()
	return decode[client.IPPool](t, c.created(t, c.do(t, http.MethodPost, at("pools"), named(name, spec))))
}

// child returns the spec of a child pool with a prefix length.
func child(parent string, length int) obj {
	return obj{"parentRef": obj{"name": parent}, "prefixLength": length}
}

func (c *caller) getPool(t testing.TB, name string) client.IPPool {
	t.Helper()
	return decode[client.IPPool](t, c.ok(t, c.do(t, http.MethodGet, at("pools", name), nil)))
}

// postClaim requests a block. The service may refuse it.
func (c *caller) postClaim(t testing.TB, name string, spec obj, options ...option) answer {
	t.Helper()
	return c.do(t, http.MethodPost, at("claims"), named(name, spec), options...)
}

// claim requests a block and requires success.
func (c *caller) claim(t testing.TB, name string, spec obj) client.IPClaim {
	t.Helper()
	return decode[client.IPClaim](t, c.created(t, c.postClaim(t, name, spec)))
}

// from returns the spec of a claim for a block of a length.
func from(pool string, length int) obj {
	return obj{"poolRef": obj{"name": pool}, "prefixLength": length}
}

// release deletes a claim.
func (c *caller) release(t testing.TB, name string) {
	t.Helper()
	c.deleted(t, c.do(t, http.MethodDelete, at("claims", name), nil))
}

// available returns the number of a pool's free addresses. It requires that the figures of the pool's capacity add up.
func (c *caller) available(t testing.TB, pool string) *big.Int {
	t.Helper()
	capacity := c.getPool(t, pool).Status.Capacity
	sum := number(t, capacity.Allocated)
	sum.Add(sum, number(t, capacity.Reserved)).Add(sum, number(t, capacity.CoolingDown)).Add(sum, number(t, capacity.Available))
	require.Equal(t, capacity.Total, sum.String())
	return number(t, capacity.Available)
}

func number(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	require.True(t, ok, s)
	return n
}

// size returns the number of addresses in a block.
func size(block string) *big.Int {
	p := netip.MustParsePrefix(block)
	return new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
}

// inside reports whether one block is inside another.
func inside(block, of string) bool {
	b, o := netip.MustParsePrefix(block), netip.MustParsePrefix(of)
	return b.Bits() >= o.Bits() && o.Contains(b.Addr())
}

// apart reports whether two blocks do not overlap.
func apart(a, b string) bool { return !netip.MustParsePrefix(a).Overlaps(netip.MustParsePrefix(b)) }

// all reads a list page by page.
func all[T any](t testing.TB, c *caller, path string) []T {
	t.Helper()
	var out []T
	for cursor := ""; ; {
		options := []option{query("limit=500")}
		if cursor != "" {
			options = append(options, query("cursor="+cursor))
		}
		page := decode[struct {
			Items      []T    `json:"items"`
			NextCursor string `json:"nextCursor"`
		}](t, c.ok(t, c.do(t, http.MethodGet, path, nil, options...)))
		out = append(out, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return out
		}
	}
}

// clone copies a JSON value deeply.
func clone[T any](v T) (out T) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

// bits returns the prefix length of a block.
func bits(block string) int { return netip.MustParsePrefix(block).Bits() }
