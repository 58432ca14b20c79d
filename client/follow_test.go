package client_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/follow"
)

// keep runs a cache until the test ends. It sends each event to the channel that it returns.
func keep[T any](t *testing.T, source follow.Source[T]) (*follow.Cache[T], chan follow.Event[T]) {
	t.Helper()
	source.Wait = time.Second
	told := make(chan follow.Event[T], 4096)
	cache := follow.NewCache(source, func(e follow.Event[T]) { told <- e }, func(err error) { t.Log("while following:", err) })
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := cache.Run(ctx); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { end(); running.Wait() })
	select {
	case <-cache.Synced():
	case <-t.Context().Done():
	}
	return cache, told
}

// until receives events until the condition is true.
func until[T any](t *testing.T, told <-chan follow.Event[T], is func() bool) {
	t.Helper()
	for !is() {
		select {
		case <-told:
		case <-time.After(5 * time.Minute):
			require.Fail(t, "the change was not told")
		}
	}
}

// The test creates and deletes claims while responses are lost. At the end, the cache has exactly the objects of the list.
func TestCacheEqualsTheListsDespiteLostResponses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cache, told := keep(t, follow.Claims(w.Carve, "team-a", ""))
	allocations, toldToo := keep(t, follow.Allocations(w.Carve, "team-a"))
	w.lose(4, true, http.MethodGet) // a call makes five attempts
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 8 {
				name := fmt.Sprintf("web-%d-%d", worker, i)
				if _, err := w.Claim(t.Context(), "team-a", name, fromProd(28)); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					if err := w.Release(t.Context(), "team-a", name); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	there := w.claims(t)
	require.Len(t, there, 16)
	until(t, told, func() bool { return assert.ObjectsAreEqual(there, cache.List()) })
	until(t, toldToo, func() bool {
		held := map[string]bool{}
		for _, a := range allocations.List() {
			held[a.Status.AllocatedCIDR] = true
		}
		return len(held) == len(there) && !slices.ContainsFunc(there, func(c client.IPClaim) bool { return !held[c.Status.AllocatedCIDR] })
	})
}

func TestPoolsClassesAndQuotasAreFollowed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	pools, told := keep(t, follow.Pools(w.Carve, "team-a", ""))
	classes, toldClasses := keep(t, follow.Classes(w.Carve, "team-a", "tier=gold"))
	quotas, toldQuotas := keep(t, follow.Quotas(w.Carve, "team-a"))
	require.Len(t, pools.List(), 1)
	_, err := w.CreatePool(t.Context(), "team-a", client.IPPoolCreate{
		Metadata: client.CreateMetadata{Name: "child"}, Spec: client.IPPoolSpec{ParentRef: &client.Ref{Name: "prod"}, PrefixLength: 24},
	})
	require.NoError(t, err)
	until(t, told, func() bool { _, ok := pools.Get("child"); return ok })
	for name, tier := range map[string]string{"one": "gold", "two": "silver"} {
		_, err = w.CreateClass(t.Context(), "team-a", client.IPClassCreate{
			Metadata: client.CreateMetadata{Name: name, Labels: client.Labels{"tier": tier}}, Spec: client.IPClassSpec{IPFamily: client.IPFamilyIPv4},
		})
		require.NoError(t, err)
	}
	until(t, toldClasses, func() bool { return len(classes.List()) == 1 })
	limit := int64(5)
	_, err = w.PutQuota(t.Context(), "team-a", "few", client.QuotaPut{Spec: client.QuotaSpec{Limits: client.QuotaLimits{Claims: &limit}}})
	require.NoError(t, err)
	until(t, toldQuotas, func() bool { _, ok := quotas.Get("few"); return ok })
}

// If its cursor has expired, a watch lists the objects again. It yields a Delete for each object that was deleted in the meantime.
func TestWatchListsAgainWhenItsCursorHasExpired(t *testing.T) {
	t.Parallel()
	answers := []struct {
		status int
		body   string
	}{
		{200, `{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}],"changesCursor":"x"}`},
		{503, `{"code":"unavailable","status":503,"detail":"Busy."}`},
		{200, `{"items":[{"kind":"IPClaim","name":"c","type":"Put","object":{"metadata":{"name":"c"}}},{"kind":"IPClaim","name":"none","type":"Delete"}],"cursor":"y"}`},
		{410, `{"code":"cursor_expired","status":410,"detail":"Too old."}`},
		{200, `{"items":[{"metadata":{"name":"b"}}],"changesCursor":"z"}`},
		{403, `{"code":"permission_denied","status":403,"detail":"No longer."}`},
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("after"))
		answer := answers[len(asked)-1]
		rw.Header().Set("Content-Type", "application/json")
		if answer.status != http.StatusOK {
			rw.Header().Set("Content-Type", "application/problem+json")
		}
		rw.WriteHeader(answer.status)
		_, _ = fmt.Fprint(rw, answer.body)
	}))
	t.Cleanup(server.Close)
	once := quick()
	once.Attempts = 1
	c, err := client.New(server.URL, client.WithRetry(once))
	require.NoError(t, err)
	var told []string
	copied := map[string]bool{}
	for e, err := range follow.Claims(c, "team-a", "").Watch(t.Context()) {
		if err != nil {
			told = append(told, string(client.CodeOf(err)))
			continue
		}
		told = append(told, string(e.Type)+" "+e.Name)
		switch e.Type {
		case follow.Put:
			copied[e.Name] = true
		case follow.Delete:
			delete(copied, e.Name)
		case follow.Synced:
		}
	}
	require.Equal(t, []string{"Put a", "Put b", "Synced ", "unavailable", "Put c", "Put b"}, told[:6])
	require.ElementsMatch(t, []string{"Delete a", "Delete c"}, told[6:8])
	require.Equal(t, []string{"Synced ", "permission_denied"}, told[8:])
	require.Equal(t, []string{"b"}, slices.Sorted(maps.Keys(copied)))
	require.Equal(t, []string{"", "x", "x", "y", "", "z"}, asked)
}

func TestWatchEndsWithItsLoopItsContextOrARefusal(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for e, err := range follow.Pools(w.Carve, "team-a", "").Watch(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, follow.Put, e.Type)
		break
	}
	ctx, end := context.WithCancel(t.Context())
	for e := range follow.Pools(w.Carve, "team-a", "").Watch(ctx) {
		if e.Type == follow.Synced {
			end()
		}
	}
	for _, err := range follow.Pools(w.Carve, "nobody", "").Watch(t.Context()) {
		require.True(t, client.IsNotFound(err))
	}
	end()
}

func TestTheConsumersOfARealmAreFollowed(t *testing.T) {
	t.Parallel()
	w := setup(t)
	cache, told := keep(t, follow.Consumers(w.Carve, "team-a", "rack"))
	for _, realm := range []string{"other", "rack"} {
		_, err := w.PutConsumer(t.Context(), "team-a", realm, "vm", client.IPConsumerPut{})
		require.NoError(t, err)
	}
	until(t, told, func() bool { _, ok := cache.Get("rack/vm"); return ok })
	require.Len(t, cache.List(), 1)
}
