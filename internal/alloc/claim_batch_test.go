package alloc_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (b *bundle) batch(t testing.TB, claims ...ipam.Claim) []ipam.Claim {
	t.Helper()
	r, err := b.CreateClaimBatch(b.ctx, project, claims, usecase.Request{})
	require.NoError(t, err)
	require.Len(t, r.Value, len(claims))
	return r.Value
}

func TestBatchBindsAllItsClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/24", strategy(ipam.FirstFit), byDefault(27)))
	b.pool(t, root("b", "2001:db8::/48", labelled("six", "yes")))
	got := b.batch(t,
		claim("one", "a", 26), claimOf("two", "a", hostAddress("10.0.0.100")), claimOf("three", "a"), claimOf("four", "a", exactly("10.0.0.128/25")),
		selecting("five", matching("six", "yes"), length(64)), claim("six", "b", 128, retain), claim("seven", "a", 32),
	)
	require.Equal(t, "10.0.0.0/26", got[0].Block.String(), "each is served in its turn")
	for i, c := range got {
		read, err := b.GetClaim(b.ctx, project, c.Name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, read, c, "%d", i)
		for _, d := range got[:i] {
			require.False(t, c.Block.Overlaps(d.Block), "%v overlaps %v", c, d)
		}
	}
}

func TestBatchTakesOneTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	claims := make([]ipam.Claim, claims.MaxBatch)
	for i := range claims {
		claims[i] = claim(fmt.Sprintf("c%d", i), "net", 32)
	}
	b.batch(t, claims...)
	require.Equal(t, 1, b.attempts.count("claim_batch", "committed"))
	require.Zero(t, b.attempts.count("claim_group", "committed"))
	require.Equal(t, "64536", b.available(t, "net"))
	_, err := b.CreateClaimBatch(b.ctx, project, slices.Concat(claims, []ipam.Claim{claim("more", "net", 32)}), usecase.Request{})
	require.Equal(t, "/claims", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	_, err = b.CreateClaimBatch(b.ctx, project, nil, usecase.Request{})
	refused(t, err, ipam.CodeInvalidArgument)
}

func TestBatchUsesThePoolsOfASelectorInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/31", labelled("x", "y")))
	b.pool(t, root("b", "10.0.1.0/31", labelled("x", "y")))
	b.pool(t, root("c", "10.0.2.0/30", labelled("x", "y")))
	hosts := func(from, to int) (list []ipam.Claim) {
		for i := from; i < to; i++ {
			list = append(list, selecting(fmt.Sprintf("h%d", i), matching("x", "y"), length(32)))
		}
		return list
	}
	var pools []string
	for _, c := range b.batch(t, hosts(0, 6)...) {
		pools = append(pools, c.Pool.Name)
	}
	require.Equal(t, []string{"a", "a", "b", "b", "c", "c"}, pools)
	before := b.dump(t)
	_, err := b.CreateClaimBatch(b.ctx, project, hosts(6, 9), usecase.Request{})
	e := refused(t, err, ipam.CodePoolExhausted)
	require.Equal(t, []string{"acme/a", "acme/b", "acme/c"}, e.Figures.PoolsTried)
	require.Equal(t, "2", e.Figures.AvailableAddresses, "as it is: nothing of the batch was taken")
	require.Equal(t, "/claims/2", e.Fields[0].Pointer[:9])
	require.Equal(t, before, b.dump(t))
	b.batch(t, hosts(6, 8)...)
}

func TestBatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/24", bounds(24, 30)))
	b.pool(t, root("b", "10.0.1.0/31", labelled("x", "y")))
	b.pool(t, root("c", "10.0.1.0/31", labelled("x", "y"), inOther(t, b)))
	b.claim(t, claim("taken", "a", 30))
	b.claim(t, claimOf("held", "b", hostAddress("10.0.1.0")))
	b.claim(t, claimOf("held-too", "c", hostAddress("10.0.1.0")))
	good := []ipam.Claim{claim("g1", "a", 28), claim("g2", "b", 32)}
	before := b.dump(t)
	for _, c := range []struct {
		name    string
		bad     ipam.Claim
		code    ipam.Code
		pointer string
	}{
		{"ExistingName", claim("taken", "a", 28), ipam.CodeAlreadyExists, "/claims/2/metadata/name"},
		{"NameTwiceInTheBatch", claim("g1", "a", 28), ipam.CodeInvalidArgument, "/claims/2/metadata/name"},
		{"NotAName", claim("No", "a", 28), ipam.CodeInvalidArgument, "/claims/2/metadata/name"},
		{"NoRoomLeftInAnotherPool", claim("c", "b", 32), ipam.CodePoolExhausted, "/claims/2"},
		{"TakenBlock", claimOf("c", "a", exactly("10.0.0.0/28")), ipam.CodeBlockTaken, "/claims/2/spec/cidr"},
		{"TakenInEveryPoolOfTheSelector", selecting("c", matching("x", "y"), exactly("10.0.1.0/32")), ipam.CodeBlockTaken, "/claims/2/spec/cidr"},
		{"LengthOutOfBounds", claim("c", "a", 32), ipam.CodePrefixLengthRejected, "/claims/2/spec/prefixLength"},
		{"NeverSatisfiable", claim("c", "a", 16), ipam.CodeNeverSatisfiable, "/claims/2/spec/prefixLength"},
		{"NoSuchPool", claim("c", "none", 28), ipam.CodeNotFound, "/claims/2/spec/poolRef/name"},
		{"NoPoolMatches", selecting("c", matching("x", "z"), length(32)), ipam.CodeNoPoolMatches, "/claims/2/spec/poolSelector"},
		{"BadSpec", claimOf("c", "a", exactly("10.0.0.0/28"), hostAddress("10.0.0.1")), ipam.CodeInvalidArgument, "/claims/2/spec"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.CreateClaimBatch(b.ctx, project, append(good[:2:2], c.bad, claim("g3", "a", 30)), usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, c.code).Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
}

// A batch checks its names in alphabetical order, not in the order of its claims. Here the name that sorts last is taken.
func TestLargeBatchWithALastNameInUseWritesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	many := make([]ipam.Claim, claims.MaxBatch)
	for i := range many {
		many[i] = claim(fmt.Sprintf("c%04d", len(many)-i), "net", 32)
	}
	taken := b.claim(t, claim(many[0].Name, "net", 32))
	before := b.dump(t)
	request := usecase.Request{Key: "once", Fingerprint: [16]byte{1}}
	_, err := b.CreateClaimBatch(b.ctx, project, many, request)
	require.Equal(t, "/claims/0/metadata/name", refused(t, err, ipam.CodeAlreadyExists).Fields[0].Pointer)
	require.Equal(t, before, b.dump(t), "neither claims nor free blocks, events or an answer")
	b.release(t, taken.Name)
	made, err := b.CreateClaimBatch(b.ctx, project, many, request)
	require.NoError(t, err)
	require.Len(t, made.Value, len(many))
	require.Equal(t, "64536", b.available(t, "net"))
}

// inOther puts a pool into another space.
func inOther(t *testing.T, b *bundle) poolOption {
	t.Helper()
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("other")}, usecase.Request{})
	require.NoError(t, err)
	return inSpace("other")
}

// A client retries a request after a timeout, while the server still executes the first request.
func TestConcurrentRetryOfABatchIsExecutedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pool string }{{"WithRoomForBoth", "10.0.0.0/28"}, {"WithRoomForOne", "10.0.0.0/31"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			net := b.pool(t, root("net", c.pool))
			store, _ := b.store(t)
			g := newGate(store, "claim_batch")
			s := b.serve(g)
			run := func() (usecase.Result[[]ipam.Claim], error) {
				return s.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("a", "net", 32), claim("b", "net", 32)}, key("k", "the batch"))
			}
			first, second := twice(t, s, g, net.UID, run)
			require.Equal(t, first.Value, second.Value)
			require.True(t, second.Replayed)
		})
	}
}

// twice stops a request at the beginning of its transaction. Then it starts the same request again. When the second request waits for the container's
// lock, twice lets both run to the end.
func twice[T any](t *testing.T, s *alloc.Service, g *gate, container ipam.ID, run func() (usecase.Result[T], error)) (first, second usecase.Result[T]) {
	t.Helper()
	type answer struct {
		result usecase.Result[T]
		err    error
	}
	start := func() chan answer {
		done := make(chan answer, 1)
		go func() {
			r, err := run()
			done <- answer{r, err}
		}()
		return done
	}
	g.close()
	one := start()
	<-g.arrived
	other := start()
	waitFor(t, func() bool { return s.Users(container) == 2 })
	g.pass()
	a, b := <-one, <-other
	require.NoError(t, a.err)
	require.NoError(t, b.err)
	require.False(t, a.result.Replayed)
	return a.result, b.result
}
