package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// page is a page of any list. It has the fields that the tests need.
type page struct {
	Items []struct {
		Metadata client.Metadata `json:"metadata"`
		CIDR     string          `json:"cidr"`  // only of a free block
		ID       string          `json:"id"`    // only of an event
		Since    string          `json:"since"` // only of a holder
	} `json:"items"`
	NextCursor string `json:"nextCursor"`
}

func (p page) names() []string {
	var out []string
	for _, i := range p.Items {
		out = append(out, i.Metadata.Name+i.CIDR+i.ID+i.Since)
	}
	return out
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/16", "allocation": obj{"strategy": "FirstFit"}})
	const n = 12
	for i := range n {
		name := fmt.Sprintf("n%02d", i)
		w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": name}}))
		w.created(t, w.do(t, http.MethodPost, at("spaces"), obj{"metadata": obj{"name": name}}))
		w.pool(t, name, obj{"cidr": fmt.Sprintf("10.%d.0.0/16", i+1)})
		w.class(t, name, obj{"ipFamily": "IPv4"})
		w.created(t, w.do(t, http.MethodPost, in("platform", "classes"), named(name, obj{"ipFamily": "IPv4", "visibility": "shared"})))
		w.claim(t, name, from("p", 30))
		w.created(t, w.do(t, http.MethodPut, at("members", "corp:"+name), obj{"spec": obj{"role": "viewer"}}))
		w.created(t, w.do(t, http.MethodPost, at("api-keys"), named(name, obj{"role": "viewer"})))
		w.created(t, w.do(t, http.MethodPut, at("quotas", name), obj{"spec": obj{"limits": obj{"claims": 100}}}))
		w.created(t, w.do(t, http.MethodPut, at("pools", "p", "grants", name), nil))
		w.created(t, w.do(t, http.MethodPut, at("spaces", "default", "grants", name), nil))
		w.claim(t, "guest", obj{"poolRef": obj{"name": "n00"}, "address": "10.1.2.3"})
		w.release(t, "guest")
	}
	for i := 0; i < n; i += 2 {
		w.release(t, fmt.Sprintf("n%02d", i)) // gaps, so that more than one block is free
	}
	for _, path := range []string{
		"/v1/projects", at("spaces"), at("pools"), at("classes"), at("claims"), at("claims") + "?pool=p", at("allocations"), at("allocations") + "?pool=p", at("pools", "p", "free"),
		at("members"), at("api-keys"), at("quotas"), at("pools", "p", "grants"), at("spaces", "default", "grants"),
		at("audit-events"), at("audit-events") + "?operation=createClaim", at("history") + "?address=10.1.2.3",
	} {
		t.Run(path, func(t *testing.T) {
			whole := decode[page](t, w.ok(t, w.do(t, http.MethodGet, path, nil, query("limit=500"))))
			require.Empty(t, whole.NextCursor)
			require.Greater(t, len(whole.Items), 4)
			for _, limit := range []int{1, 3, len(whole.Items), 500} {
				t.Run(fmt.Sprintf("SameItemsInPagesOf%d", limit), func(t *testing.T) {
					var got []string
					for cursor := ""; ; {
						options := []option{query(fmt.Sprintf("limit=%d", limit))}
						if cursor != "" {
							options = append(options, query("cursor="+cursor))
						}
						p := decode[page](t, w.ok(t, w.do(t, http.MethodGet, path, nil, options...)))
						require.LessOrEqual(t, len(p.Items), limit)
						got = append(got, p.names()...)
						if cursor = p.NextCursor; cursor == "" {
							break
						}
					}
					require.Equal(t, whole.names(), got)
				})
			}
			t.Run("RefusesTheCursorOfAnotherList", func(t *testing.T) {
				other := "/v1/projects"
				if path == other {
					other = at("spaces")
				}
				foreign := decode[page](t, w.ok(t, w.do(t, http.MethodGet, other, nil, query("limit=1")))).NextCursor
				require.NotEmpty(t, foreign)
				w.refused(t, w.do(t, http.MethodGet, path, nil, query("cursor="+foreign)), "invalid_argument", "query:cursor")
			})
		})
	}
}

// Objects appear and disappear between the reads of two pages. An object that exists all the time must be listed exactly once, in order.
func TestPagingWhileRowsComeAndGo(t *testing.T) {
	t.Parallel()
	for name, suffix := range map[string]string{"ByName": "", "ByAddress": "&pool=p"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
			stays := map[string]bool{}
			address := func(i int) obj { return obj{"poolRef": obj{"name": "p"}, "address": fmt.Sprintf("10.0.0.%d", i)} }
			for i := range 60 {
				claim := fmt.Sprintf("c%03d", i*2)
				w.claim(t, claim, address(i*2))
				stays[claim] = i%3 != 0
			}
			var got []string
			i := 0
			for cursor := ""; ; i++ {
				path := at("claims") + "?limit=7" + suffix
				if cursor != "" {
					path += "&cursor=" + cursor
				}
				p := decode[page](t, w.ok(t, w.do(t, http.MethodGet, path, nil)))
				got = append(got, p.names()...)
				if cursor = p.NextCursor; cursor == "" {
					break
				}
				// One original object disappears, before or behind the cursor. New objects appear before and behind it.
				w.release(t, fmt.Sprintf("c%03d", (i*3)%60*2))
				for _, at := range []int{i*2 + 1, 119 - i*2} {
					w.claim(t, fmt.Sprintf("c%03d", at), address(at))
				}
			}
			require.True(t, slices.IsSorted(got), "%v", got)
			require.Len(t, slices.Compact(slices.Clone(got)), len(got), "nothing twice")
			for _, claim := range slices.Sorted(maps.Keys(stays)) {
				if stays[claim] {
					require.Contains(t, got, claim)
				}
			}
		})
	}
}
