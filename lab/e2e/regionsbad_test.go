package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// A new pool with wrong regions is refused. The refusal names the wrong field and the valid values. Nothing is written.
func TestInvalidRegionsOfAPoolAreRefused(t *testing.T) {
	t.Parallel()
	dsn := database(t, elsewhere...)
	w := newWorld(t, newCaller(serve(t, dsn)), dsn)
	w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": project}}))
	w.pool(t, "parent", obj{"cidr": "10.0.0.0/16"})
	many := func(n int) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf("r%d", i))
		}
		return names
	}
	const has = "it has local, eu, us"
	w.writesNothing(t, func() {
		for name, tc := range map[string]struct {
			spec          obj
			pointer, says string
		}{
			"None":                 {obj{"regions": []string{}}, "/spec/regions", "at least 1 item"},
			"Null":                 {obj{"regions": nil}, "/spec/regions", "leave it out"},
			"OneTwice":             {obj{"regions": []string{region, region}}, "/spec/regions", "must not repeat an item"},
			"AnUnknownOne":         {obj{"regions": []string{region, "mars"}}, "/spec/regions/1", has},
			"AnUnknownFirstOne":    {obj{"regions": []string{"mars", region}}, "/spec/regions/0", has},
			"AnUnknownHome":        {obj{"region": "mars"}, "/spec/region", has},
			"AnUnknownHomeOfThem":  {obj{"region": "mars", "regions": []string{"mars", "eu"}}, "/spec/region", has},
			"NotTheHome":           {obj{"region": "us", "regions": []string{region, "eu"}}, "/spec/regions", `must include the pool's home, "us"`},
			"MoreThanThereCanBe":   {obj{"regions": many(17)}, "/spec/regions", "at most 16 items"},
			"AHundred":             {obj{"regions": many(100)}, "/spec/regions", "at most 16 items"},
			"MoreThanThereAre":     {obj{"regions": append([]string{region, "eu", "us"}, many(13)...)}, "/spec/regions/3", has},
			"NoName":               {obj{"regions": []string{"EU"}}, "/spec/regions/0", "DNS label"},
			"AnEmptyHome":          {obj{"region": ""}, "/spec/region", "at least 1 character"},
			"AnotherType":          {obj{"regions": "eu"}, "/spec/regions", "must be an array"},
			"AHomeOfAnotherType":   {obj{"region": 1}, "/spec/region", "must be a string"},
			"WhatTheServerSaysOne": {obj{"regions": []any{obj{"region": "eu"}}}, "/spec/regions/0", "must be a string"},
		} {
			t.Run(name, func(t *testing.T) {
				for _, spec := range []obj{{"cidr": "10.64.0.0/16"}, child("parent", 24)} {
					maps.Copy(spec, tc.spec)
					for _, options := range [][]option{nil, {dryRun}, {key("k-" + name)}} {
						p := w.refused(t, w.do(t, http.MethodPost, at("pools"), named("p", spec), options...), "invalid_argument", tc.pointer)
						require.Contains(t, p.Detail, tc.says)
					}
				}
			})
		}
	})
	again := named("many", obj{"cidr": "10.66.0.0/16", "regions": []string{"eu", region, "us"}})
	first := w.created(t, w.do(t, http.MethodPost, at("pools"), again, key("many")))
	by := stands(t, decode[client.IPPool](t, first))
	require.Equal(t, "65536", by["eu"].Capacity.Available, "it begins at home")
	require.Equal(t, first.body, w.created(t, w.do(t, http.MethodPost, at("pools"), again, key("many"))).body)
	one := w.pool(t, "one", obj{"cidr": "10.64.0.0/16", "regions": []string{region}})
	require.Empty(t, one.Spec.Regions, "its home alone is what every pool has")
	far := w.pool(t, "far", obj{"cidr": "10.65.0.0/16", "region": "us"})
	require.Equal(t, "us", far.Metadata.Region)
	require.Equal(t, "us", w.claim(t, "c", from("far", 28)).Metadata.Region, "of a pool that is at home elsewhere alone")
}

// Only reads of data that differ by region may be stale. Other reads, and operations that change something, refuse the parameter.
func TestOnlyReadsAcceptStaleConsistency(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	s.writesNothing(t, func() {
		for _, each := range s.specimens(t) {
			t.Run(each.String(), func(t *testing.T) {
				may := false
				for _, p := range each.op.in("query") {
					may = may || p.Name == "consistency"
				}
				if !may {
					refuses(t, s, each, "consistency=stale", "query:consistency")
					return
				}
				require.Equal(t, http.MethodGet, each.op.method)
				strong := s.ok(t, each.send(t, s.caller, query("consistency=strong")))
				require.Empty(t, strong.header.Get("Carve-Consistency"))
				require.Empty(t, strong.header.Get("Carve-Read-At"))
				stale := s.ok(t, each.send(t, s.caller, query("consistency=stale")))
				require.Equal(t, string(client.ConsistencyStale), stale.header.Get("Carve-Consistency"))
				read, err := time.Parse(time.RFC3339Nano, stale.header.Get("Carve-Read-At"))
				require.NoError(t, err, "it says of when it is")
				require.False(t, read.After(time.Now().Add(askew)))
				require.Equal(t, time.UTC, read.Location())
			})
		}
	})
}
