package alloc_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// followable returns a bundle whose service uses the database's clock, because the feed depends on it.
func followable(t testing.TB) *bundle {
	t.Helper()
	b := setup(t)
	store, _ := b.store(t)
	b.Service = alloc.New(store, alloc.Options{Region: region})
	t.Cleanup(b.EndFeed)
	b.pool(t, root("net", "10.0.0.0/8"))
	return b
}

func (b *bundle) follow(t testing.TB, cursor string, f feed.Filter) *feed.Follower {
	t.Helper()
	follower, err := b.Follow(b.ctx, project, cursor, f)
	require.NoError(t, err)
	t.Cleanup(follower.Close)
	return follower
}

// told returns the changes that a follower receives until no change is left. It omits repeated changes.
func told(ctx context.Context, t testing.TB, f *feed.Follower, limit int) (all []string) {
	t.Helper()
	for {
		changes, err := f.Next(ctx, 0, limit)
		require.NoError(t, err)
		if len(changes) == 0 {
			return all
		}
		for _, c := range changes {
			word := "Put"
			if c.Object == nil {
				word = "Delete"
			}
			if one := fmt.Sprintf("%s %s %s", word, c.Kind, c.Name); !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
	}
}

func toldOf(all []string, kind string) (out []string) {
	for _, one := range all {
		if strings.Contains(one, " "+kind+" ") {
			out = append(out, one)
		}
	}
	return out
}

func TestFollowersReceiveChangesThatMatchTheirFilter(t *testing.T) {
	t.Parallel()
	b := followable(t)
	all := b.follow(t, "", feed.Filter{})
	claims := b.follow(t, "", feed.Filter{Kinds: []string{"IPClaim"}})
	one := b.follow(t, "", feed.Filter{Name: "one"})
	web := b.follow(t, "", feed.Filter{Kinds: []string{"IPClaim"}, Labels: &ipam.Selector{MatchLabels: map[string]string{"tier": "web"}}})
	b.claim(t, claim("one", "net", 32, withLabels("tier", "web")))
	kept := b.claim(t, claim("two", "net", 32, retain))
	require.Equal(t, []string{"Put IPClaim one", "Put IPClaim two"}, told(b.ctx, t, claims, 100))
	require.Equal(t, []string{"Put IPClaim one"}, told(b.ctx, t, one, 100))
	require.Equal(t, []string{"Put IPClaim one"}, told(b.ctx, t, web, 100))
	require.Len(t, toldOf(told(b.ctx, t, all, 100), "IPAllocation"), 2)

	b.release(t, "one")
	b.release(t, "two")
	require.Equal(t, []string{"Delete IPClaim one"}, told(b.ctx, t, one, 100))
	require.ElementsMatch(t, []string{"Delete IPClaim one", "Delete IPClaim two"}, told(b.ctx, t, web, 100), "what is deleted comes whatever labels it had")
	after := told(b.ctx, t, all, 100)
	require.Contains(t, after, "Put IPAllocation "+kept.AllocationID.String(), "it is retained")
	require.Len(t, toldOf(after, "IPAllocation"), 2)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, kept.AllocationID.String(), usecase.Request{}))
	require.Equal(t, []string{"Delete IPAllocation " + kept.AllocationID.String()}, told(b.ctx, t, all, 100))
}

// A cursor continues at its position, also on another server and in the middle of the changes of one transaction.
func TestFeedCursorContinuesOnAnotherServer(t *testing.T) {
	t.Parallel()
	b := followable(t)
	begin := b.follow(t, "", feed.Filter{}).Cursor()
	const many = 150
	var batch []ipam.Claim
	for i := range many {
		batch = append(batch, claim(fmt.Sprintf("c-%03d", i), "net", 32))
	}
	_, err := b.CreateClaimBatch(b.ctx, project, batch, usecase.Request{})
	require.NoError(t, err)
	store, _ := b.store(t)
	other := alloc.New(store, alloc.Options{Region: region})
	t.Cleanup(other.EndFeed)
	seen, cursor := map[string]bool{}, begin
	for i := 0; ; i++ {
		service := []*alloc.Service{b.Service, other}[i%2]
		f, err := service.Follow(b.ctx, project, cursor, feed.Filter{Kinds: []string{"IPClaim"}})
		require.NoError(t, err)
		changes, err := f.Next(b.ctx, 0, 10)
		require.NoError(t, err)
		for _, c := range changes {
			seen[c.Name] = true
		}
		cursor = f.Cursor()
		f.Close()
		if len(changes) == 0 {
			break
		}
		require.Less(t, i, many, "it goes on")
	}
	require.Len(t, seen, many)
}

// An open transaction keeps the feed's position back, so a follower may get later changes again. A follower that reads few changes at a time must
// still advance.
func TestFollowerAdvancesBehindAHeldPosition(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // only in PostgreSQL an open transaction keeps the position back
	b := followable(t)
	f := b.follow(t, "", feed.Filter{Kinds: []string{"IPClaim"}})
	told(b.ctx, t, f, 100)
	other := dbtest.Connect(t, b.dsn, nil)
	for _, sql := range []string{"BEGIN", "SELECT pg_current_xact_id()"} {
		_, err := other.Exec(b.ctx, sql)
		require.NoError(t, err)
	}
	const many = 100
	var batch []ipam.Claim
	for i := range many {
		batch = append(batch, claim(fmt.Sprintf("c-%03d", i), "net", 32))
	}
	for i := range 5 { // several audit trail rows
		_, err := b.CreateClaimBatch(b.ctx, project, batch[i*many/5:(i+1)*many/5], usecase.Request{})
		require.NoError(t, err)
	}
	seen := map[string]bool{}
	for range 4 * many {
		changes, err := f.Next(b.ctx, 0, 10)
		require.NoError(t, err)
		if len(changes) == 0 {
			break
		}
		for _, c := range changes {
			seen[c.Name] = true
		}
	}
	require.Len(t, seen, many)
}

// A follower that is too far behind for the changes that the hub keeps reads the database. If it falls behind again, the hub disconnects it. Other
// followers do not wait for it.
func TestSlowFollowerIsDisconnected(t *testing.T) {
	t.Parallel()
	b := followable(t)
	slow, quick := b.follow(t, "", feed.Filter{}), b.follow(t, "", feed.Filter{Kinds: []string{"IPClaim", "IPAllocation"}})
	begin := slow.Cursor()
	told(b.ctx, t, slow, 10)  // may return an earlier change
	seen := map[string]bool{} // a map, because a change may come again
	for i := range 6 {
		var batch []ipam.Claim
		for j := range 500 {
			batch = append(batch, claim(fmt.Sprintf("c-%d-%03d", i, j), "net", 32))
		}
		_, err := b.CreateClaimBatch(b.ctx, project, batch, usecase.Request{})
		require.NoError(t, err)
		for _, one := range told(b.ctx, t, quick, 1000) {
			seen[one] = true
		}
	}
	require.Len(t, seen, 6*500*2)
	var err error
	for err == nil {
		_, err = slow.Next(b.ctx, 0, 10)
	}
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), err)
	again := b.follow(t, slow.Cursor(), feed.Filter{Kinds: []string{"IPClaim"}})
	for _, f := range []*feed.Follower{again, b.follow(t, begin, feed.Filter{Kinds: []string{"IPClaim"}})} {
		all := told(b.ctx, t, f, 1000)
		slices.Sort(all)
		require.Len(t, slices.Compact(all), 6*500)
	}
}

func TestFollowersNeedARoleAndAreLimited(t *testing.T) {
	t.Parallel()
	b := followable(t)
	viewer := func(roles map[string]tenancy.Role) context.Context {
		return tenancy.WithPrincipal(b.ctx, tenancy.Principal{Subject: "viewer", Method: "dev", Roles: roles})
	}
	_, err := b.Follow(viewer(nil), project, "", feed.Filter{})
	refused(t, err, ipam.CodeNotFound)
	f, err := b.Follow(viewer(map[string]tenancy.Role{project: tenancy.Viewer}), project, "", feed.Filter{})
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, f.CheckAccess(viewer(map[string]tenancy.Role{project: tenancy.Viewer})))
	refused(t, f.CheckAccess(viewer(nil)), ipam.CodeNotFound)

	var all []*feed.Follower
	for {
		next, err := b.Follow(viewer(map[string]tenancy.Role{project: tenancy.Viewer}), project, f.Cursor(), feed.Filter{})
		if err != nil {
			refused(t, err, ipam.CodeRateLimited)
			break
		}
		all = append(all, next)
	}
	require.Len(t, all, 1023)
	followers, projects := b.Followers()
	require.Equal(t, []int{1024, 1}, []int{followers, projects})
	for _, one := range all {
		one.Close()
		one.Close()
	}
	next, err := b.Follow(viewer(map[string]tenancy.Role{project: tenancy.Viewer}), project, "", feed.Filter{})
	require.NoError(t, err)
	next.Close()
}

func TestFeedHubsEndWithTheFeedOrTheirProject(t *testing.T) {
	t.Parallel()
	b := followable(t)
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("short")}, usecase.Request{})
	require.NoError(t, err)
	f, err := b.Follow(b.ctx, "short", "", feed.Filter{})
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, b.DeleteProject(b.ctx, "short", usecase.Request{}))
	_, err = f.Next(b.ctx, time.Minute, 10)
	refused(t, err, ipam.CodeNotFound)

	g := b.follow(t, "", feed.Filter{})
	var ends sync.WaitGroup
	ends.Go(func() { _, err = g.Next(b.ctx, time.Minute, 10) })
	b.EndFeed()
	ends.Wait()
	refused(t, err, ipam.CodeUnavailable)
	_, err = b.Follow(b.ctx, project, "", feed.Filter{})
	refused(t, err, ipam.CodeUnavailable)
}

// A waiting follower receives the changes of its own server at once, and the changes of other servers soon.
func TestWaitingFollowerReceivesLocalAndRemoteChanges(t *testing.T) {
	t.Parallel()
	b := followable(t)
	store, _ := b.store(t)
	other := alloc.New(store, alloc.Options{Region: region})
	f := b.follow(t, "", feed.Filter{Kinds: []string{"IPClaim"}})
	for i, service := range []*alloc.Service{b.Service, other} {
		require.Empty(t, told(b.ctx, t, f, 10))
		name := fmt.Sprintf("c-%d", i)
		var made sync.WaitGroup
		made.Go(func() {
			_, err := service.CreateClaim(b.ctx, project, claim(name, "net", 32), usecase.Request{})
			require.NoError(t, err)
		})
		changes, err := f.Next(b.ctx, time.Minute, 10)
		made.Wait()
		require.NoError(t, err)
		require.Equal(t, name, changes[0].Name)
	}
}

func TestHolderIsNotifiedWhenThePoolOwnerFreesItsBlock(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	store, _ := b.store(t)
	b.Service = alloc.New(store, alloc.Options{Region: region})
	t.Cleanup(b.EndFeed)
	b.grant(t, "net", project)
	made := b.claim(t, claim("c", "net", 28, offered, retain))
	b.release(t, "c")
	name := made.AllocationID.String()
	follower := b.follow(t, "", feed.Filter{})
	require.NoError(t, b.DeleteAllocation(b.ctx, provider, name, usecase.Request{}))
	require.Equal(t, []string{"Delete IPAllocation " + name}, told(b.ctx, t, follower, 100))
	last := b.events(t, project, trail.EventFilter{})[0]
	require.Equal(t, []string{name, allocations.PoolOwner, ""}, []string{last.Name, last.Subject, last.RequestID}, "but not by whom")
}

func TestFeedReportsConsumerChanges(t *testing.T) {
	t.Parallel()
	b := followable(t)
	follower := b.follow(t, "", feed.Filter{Kinds: []string{"IPConsumer"}})
	vm := user("vm-1")
	_, err := b.PutConsumer(b.ctx, project, vm, usecase.Request{})
	require.NoError(t, err)
	name := vm.Ref.String()
	require.Equal(t, []string{"Put IPConsumer " + name}, told(b.ctx, t, follower, 100))
	_, err = b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: vm.Ref.Realm, UIDs: []string{vm.Ref.UID}}, usecase.Request{})
	require.NoError(t, err)
	require.Empty(t, told(b.ctx, t, follower, 100), "a renewal is no change")
	_, err = b.EndConsumer(b.ctx, project, vm.Ref, usecase.Request{})
	require.NoError(t, err)
	changes, err := follower.Next(b.ctx, 0, 100)
	require.NoError(t, err)
	require.Len(t, changes, 1)
	ended, is := changes[0].Object.(ipam.Consumer)
	require.True(t, is, "what has ended stays as a tombstone")
	require.False(t, ended.Live())
	require.Equal(t, project, ended.Project)
	require.Equal(t, name, changes[0].Name)
}
