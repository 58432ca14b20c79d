package crdb_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// server contains the parts of a server that a reading uses.
type server struct {
	svc   *alloc.Service
	store *crdb.Store
	asks  usecase.Reading // options for the reads that accept them
}

// reading is a request or a background job. Its statements are recorded in addition to the statements of the operations.
type reading struct {
	prepare func(t *testing.T, h *house, p string)
	do      func(ctx context.Context, s server, p string) error
}

func failure[T any](_ T, err error) error { return err }

// get returns a reading that reads one object or one page.
func get[T any](prepare func(*testing.T, *house, string), read func(ctx context.Context, svc *alloc.Service, p string) (T, error)) reading {
	return reading{prepare, func(ctx context.Context, s server, p string) error { return failure(read(ctx, s.svc, p)) }}
}

// asked returns a reading that uses the server's options for reads.
func asked[T any](prepare func(*testing.T, *house, string), read func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (T, error)) reading {
	return reading{prepare, func(ctx context.Context, s server, p string) error { return failure(read(ctx, s.svc, p, s.asks)) }}
}

// exec runs SQL directly on the database. A test uses it for a change that would otherwise take time.
func exec(t *testing.T, h *house, sql string) {
	t.Helper()
	_, err := dbtest.Connect(t, h.dsn, nil).Exec(t.Context(), sql)
	require.NoError(t, err)
}

func withSpaceGrant(t *testing.T, h *house, p string) {
	t.Helper()
	withSpace(t, h, p)
	_, err := h.svc.PutSpaceGrant(admin(t), p, "lab", ipam.Everybody, usecase.Request{})
	require.NoError(t, err)
}

func withScoped(t *testing.T, h *house, p string) {
	t.Helper()
	withClass(perZone)(t, h, p)
	_, err := h.svc.CreateClaim(admin(t), p, byClass("claim", "class"), usecase.Request{})
	require.NoError(t, err)
	require.NoError(t, h.svc.DeleteClaim(admin(t), p, "claim", usecase.Request{}))
	exec(t, h, "UPDATE holds SET cool_until = now() - INTERVAL '1 hour' WHERE phase = 'CoolingDown'")
	n, err := h.svc.FreeCooled(admin(t), 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// repeated contains the options of a request that is retried with its key.
var repeated = usecase.Request{Key: "again", Fingerprint: [16]byte{1}}

// withAnswers prepares a claim with a generated name and a batch. The responses to both are stored.
func withAnswers(t *testing.T, h *house, p string) {
	t.Helper()
	withPool(t, h, p)
	_, err := repeatClaim(admin(t), h.svc, p)
	require.NoError(t, err)
	_, err = repeatBatch(admin(t), h.svc, p)
	require.NoError(t, err)
}

func repeatClaim(ctx context.Context, svc *alloc.Service, p string) (any, error) {
	c := claimOf("", p, "pool", 28)
	c.Name, c.GeneratedFrom = ipam.GenerateName("job-", 0, ipam.NewID()), "job-"
	r := repeated
	r.Key = "claim"
	return value(svc.CreateClaim(ctx, p, c, r))
}

func repeatBatch(ctx context.Context, svc *alloc.Service, p string) (any, error) {
	return value(svc.CreateClaimBatch(ctx, p, batchOf(p), repeated))
}

func withEmptiedScope(t *testing.T, h *house, p string) {
	t.Helper()
	withScoped(t, h, p)
	exec(t, h, "UPDATE pools SET empty_since = now() - INTERVAL '400 days' WHERE scope IS NOT NULL")
}

var here = netip.MustParseAddr("10.0.0.20")

var readings = map[string]reading{
	"RepeatClaim":      get(withAnswers, repeatClaim),
	"RepeatClaimBatch": get(withAnswers, repeatBatch),
	"GetProject": get(nothing, func(ctx context.Context, svc *alloc.Service, p string) (ipam.Project, error) {
		return svc.GetProject(ctx, p)
	}),
	"ListProjects": asked(nothing, func(ctx context.Context, svc *alloc.Service, _ string, r usecase.Reading) (paging.Page[ipam.Project], error) {
		return svc.ListProjects(ctx, paging.Filter{}, 10, "", r)
	}),
	"GetSpace": get(withSpace, func(ctx context.Context, svc *alloc.Service, p string) (ipam.Space, error) {
		return svc.GetSpace(ctx, p, "lab")
	}),
	"ListSpaces": asked(withSpace, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Space], error) {
		return svc.ListSpaces(ctx, p, paging.Filter{}, 10, "", r)
	}),
	"GetPool": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (ipam.Pool, error) {
		return svc.GetPool(ctx, p, "pool", r)
	}),
	"GetPoolFree": asked(withClaim(ipam.ReclaimDelete), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (pools.FreePage, error) {
		return svc.GetPoolFree(ctx, p, "pool", nil, 10, "", r)
	}),
	"GetPoolMap": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (allocations.Map, error) {
		return svc.GetPoolMap(ctx, p, "pool", netip.Prefix{}, 8, r)
	}),
	"GetPoolUtilization": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (utilization.History, error) {
		return svc.GetPoolUtilization(ctx, p, "pool", utilization.Query{Points: 200}, r)
	}),
	"ListRootPools": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Pool], error) {
		return svc.ListPools(ctx, p, paging.Filter{Roots: true}, 10, "", r)
	}),
	"SearchAddress": asked(withRetained, func(ctx context.Context, svc *alloc.Service, _ string, r usecase.Reading) (search.Found, error) {
		return svc.Search(ctx, search.Query{Text: here.String(), Limit: 10}, r)
	}),
	"SearchAddressInProject": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (search.Found, error) {
		return svc.Search(ctx, search.Query{Text: p + "/" + here.String(), Limit: 10}, r)
	}),
	"SearchName": asked(withClass(), func(ctx context.Context, svc *alloc.Service, _ string, r usecase.Reading) (search.Found, error) {
		return svc.Search(ctx, search.Query{Text: "c", Limit: 10}, r)
	}),
	"SearchLabel": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (search.Found, error) {
		return svc.Search(ctx, search.Query{Text: p + "/env=prod", Limit: 10}, r)
	}),
	"ListPools": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Pool], error) {
		return svc.ListPools(ctx, p, paging.Filter{}, 10, "", r)
	}),
	"ListPoolsThatCover": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Pool], error) {
		return svc.ListPools(ctx, p, paging.Filter{Contains: here}, 10, "", r)
	}),
	"GetClaim": asked(withClaim(ipam.ReclaimDelete), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (ipam.Claim, error) {
		return svc.GetClaim(ctx, p, "claim", r)
	}),
	"ListClaims": asked(withClaim(ipam.ReclaimDelete), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Claim], error) {
		return svc.ListClaims(ctx, p, paging.Filter{}, 10, "", r)
	}),
	"ListClaimsOfOwner": asked(withClaim(ipam.ReclaimDelete), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Claim], error) {
		return svc.ListClaims(ctx, p, paging.Filter{Owner: "Cluster/web"}, 10, "", r)
	}),
	"ListClaimsOfPool": asked(withClaim(ipam.ReclaimDelete), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Claim], error) {
		return svc.ListClaims(ctx, p, paging.Filter{Pool: ipam.Ref{Project: p, Name: "pool"}}, 10, "", r)
	}),
	"ExplainClaim": get(withClass(), func(ctx context.Context, svc *alloc.Service, p string) (claims.Explanation, error) {
		return svc.ExplainClaim(ctx, p, byClass("claim", "class"))
	}),
	"GetAllocation": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (ipam.Allocation, error) {
		ref, err := theOne(ctx, svc, p, r)
		if err != nil {
			return ipam.Allocation{}, err
		}
		return svc.GetAllocation(ctx, p, ref, r)
	}),
	"ListAllocations": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Allocation], error) {
		return svc.ListAllocations(ctx, p, paging.Filter{}, 10, "", r)
	}),
	"ListAllocationsOfPool": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Allocation], error) {
		return svc.ListAllocations(ctx, p, paging.Filter{Pool: ipam.Ref{Project: p, Name: "pool"}}, 10, "", r)
	}),
	"GetClass": asked(withClass(), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (ipam.Class, error) {
		return svc.GetClass(ctx, p, "class", r)
	}),
	"ListClasses": asked(withClass(), func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Class], error) {
		return svc.ListClasses(ctx, p, paging.Filter{}, 10, "", r)
	}),
	"GetMember": get(withMember, func(ctx context.Context, svc *alloc.Service, p string) (ipam.Member, error) {
		return svc.GetMember(ctx, p, "corp:alice")
	}),
	"ListMembers": asked(withMember, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Member], error) {
		return svc.ListMembers(ctx, p, 10, "", r)
	}),
	"GetKey": get(withKey, func(ctx context.Context, svc *alloc.Service, p string) (ipam.APIKey, error) {
		return svc.GetKey(ctx, p, "robot")
	}),
	"ListKeys": asked(withKey, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.APIKey], error) {
		return svc.ListKeys(ctx, p, 10, "", r)
	}),
	"GetPoolGrant": get(withGrant, func(ctx context.Context, svc *alloc.Service, p string) (ipam.Grant, error) {
		return svc.GetPoolGrant(ctx, p, "pool", ipam.Everybody)
	}),
	"ListPoolGrants": asked(withGrant, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Grant], error) {
		return svc.ListPoolGrants(ctx, p, "pool", 10, "", r)
	}),
	"GetSpaceGrant": get(withSpaceGrant, func(ctx context.Context, svc *alloc.Service, p string) (ipam.Grant, error) {
		return svc.GetSpaceGrant(ctx, p, "lab", ipam.Everybody)
	}),
	"PutSpaceGrant": get(withSpace, func(ctx context.Context, svc *alloc.Service, p string) (usecase.Result[ipam.Grant], error) {
		return svc.PutSpaceGrant(ctx, p, "lab", ipam.Everybody, usecase.Request{})
	}),
	"DeleteSpaceGrant": {withSpaceGrant, func(ctx context.Context, s server, p string) error {
		return s.svc.DeleteSpaceGrant(ctx, p, "lab", ipam.Everybody, usecase.Request{})
	}},
	"GetQuota": get(withQuota, func(ctx context.Context, svc *alloc.Service, p string) (ipam.Quota, error) {
		return svc.GetQuota(ctx, p, "all")
	}),
	"ListQuotas": asked(withQuota, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Quota], error) {
		return svc.ListQuotas(ctx, p, 10, "", r)
	}),
	"ListEvents": asked(withPool, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Event], error) {
		return svc.ListEvents(ctx, p, trail.EventFilter{}, 10, "", r)
	}),
	"GetHistory": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Hold], error) {
		return svc.GetHistory(ctx, p, here, time.Time{}, 10, "", r)
	}),
	"GetHistoryAtATime": asked(withRetained, func(ctx context.Context, svc *alloc.Service, p string, r usecase.Reading) (paging.Page[ipam.Hold], error) {
		return svc.GetHistory(ctx, p, here, time.Now(), 10, "", r)
	}),
	"CreateAnotherClaim": { // the project, the pool and the plan of such a claim are in the cache
		prepare: withPool,
		do: func(ctx context.Context, s server, p string) error {
			for _, name := range []string{"first", "second"} {
				if _, err := s.svc.CreateClaim(ctx, p, claimOf(name, p, "pool", 28), usecase.Request{}); err != nil {
					return err
				}
			}
			return nil
		},
	},
	"CreateClaimInOneTrip": { // the versions of the pool and the project are in the cache, too
		prepare: func(t *testing.T, h *house, p string) {
			t.Helper()
			withPool(t, h, p)
			_, err := h.svc.PutQuota(admin(t), p, quotaOf(1000), usecase.Request{})
			require.NoError(t, err)
		},
		do: func(ctx context.Context, s server, p string) error {
			for _, name := range []string{"first", "second", "third"} {
				if _, err := s.svc.CreateClaim(ctx, p, claimOf(name, p, "pool", 29), usecase.Request{Key: name}); err != nil {
					return err
				}
			}
			return s.svc.DeleteClaim(ctx, p, "third", usecase.Request{})
		},
	},
	"CreateClaimThatIsRefused": { // by a pool that is not in the cache at first
		prepare: withPool,
		do: func(ctx context.Context, s server, p string) error {
			if _, err := s.svc.CreateClaim(ctx, p, claimOf("first", p, "pool", 28), usecase.Request{}); err != nil {
				return err
			}
			for _, name := range []string{"second", "third"} {
				if _, err := s.svc.CreateClaim(ctx, p, claimOf(name, p, "pool", 24), usecase.Request{}); !ipam.IsCode(err, ipam.CodePoolExhausted) {
					return fmt.Errorf("not refused: %w", err)
				}
			}
			return nil
		},
	},
	"JobFreeCooled": {prepare: func(t *testing.T, h *house, p string) {
		t.Helper()
		withCooling(t, h, p)
		exec(t, h, "UPDATE holds SET cool_until = now() - INTERVAL '1 hour' WHERE phase = 'CoolingDown'")
	}, do: func(ctx context.Context, s server, _ string) error { return failure(s.svc.FreeCooled(ctx, 1000)) }},
	"JobMarkEmptyScope":   {withScoped, sweep},
	"JobRemoveEmptyScope": {withEmptiedScope, sweep},
	"JobDeleteDrained":    {prepare: withDrained, do: func(ctx context.Context, s server, _ string) error { return failure(s.svc.DeleteDrained(ctx, 1000)) }},
	"JobExpireAnswers": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		return failure(s.store.ExpireStoredResponses(ctx, time.Now(), 1000))
	}},
	"JobRecordUtilization": {prepare: withPool, do: func(ctx context.Context, s server, _ string) error {
		return failure(utilization.NewRecorder(s.store, time.Hour, s.store.Now).Record(ctx))
	}},
	"JobThinUtilization": {prepare: func(t *testing.T, h *house, p string) {
		t.Helper()
		withPool(t, h, p)
		exec(t, h, "INSERT INTO utilization SELECT region, id, FALSE, '2026-01-05 00:00:00Z', '2026-01-05 01:00:00Z', decode('000001', 'hex') || decode('00', 'hex') FROM pools")
	}, do: func(ctx context.Context, s server, _ string) error {
		return failure(utilization.NewRecorder(s.store, time.Hour, s.store.Now).Thin(ctx))
	}},
	"JobExpireEvents": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		return failure(s.store.ExpireEvents(ctx, time.Now(), 1000))
	}},
	"JobPurge": {prepare: func(t *testing.T, h *house, p string) {
		t.Helper()
		withAnother(t, h, p)
		require.NoError(t, h.svc.DeleteProject(admin(t), "of-"+p, usecase.Request{}))
	}, do: func(ctx context.Context, s server, _ string) error { return failure(s.store.Purge(ctx, 1000)) }},
	"AuthenticateByKey": {prepare: withKey, do: func(ctx context.Context, s server, _ string) error {
		_, _, err := s.store.KeyByID(ctx, ipam.ID{1})
		return err
	}},
	"AuthenticateByToken": {prepare: withMember, do: func(ctx context.Context, s server, _ string) error {
		return failure(s.store.MemberRoles(ctx, "corp:alice"))
	}},
	"AuthenticateBySession": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		_, _, err := s.store.SessionByHash(ctx, []byte{1})
		return err
	}},
	"BeginSession": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		return s.store.SessionBegin(ctx, ipam.Session{Hash: []byte{2}, Holder: "corp:alice", Issuer: "https://issuer.example", ExpiresAt: time.Now()}, 32)
	}},
	"EndSession": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		return s.store.SessionEnd(ctx, []byte{1})
	}},
	"JobSessionsUsed": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		return s.store.SessionsUsed(ctx, map[string]time.Time{"1": time.Now()})
	}},
	"JobExpireSessions": {prepare: nothing, do: func(ctx context.Context, s server, _ string) error {
		return failure(s.store.ExpireSessions(ctx, time.Now(), 1000))
	}},
	"JobKeysUsed": {prepare: withKey, do: func(ctx context.Context, s server, _ string) error {
		return s.store.KeysUsed(ctx, map[ipam.ID]time.Time{{1}: time.Now()})
	}},
}

func withDrained(t *testing.T, h *house, p string) {
	t.Helper()
	withPool(t, h, p)
	_, err := h.svc.PatchPool(admin(t), p, "pool", usecase.Request{}, func(was ipam.Pool) (ipam.Pool, error) {
		was.Spec.Drain = ipam.DrainDelete
		return was, nil
	})
	require.NoError(t, err)
}

func sweep(ctx context.Context, s server, _ string) error {
	_, _, err := s.svc.SweepScopes(ctx, 1000, 1)
	return err
}
