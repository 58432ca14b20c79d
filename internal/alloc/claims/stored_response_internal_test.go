package claims

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// storedRequest is a request for claims, together with the claims that it created.
type storedRequest struct {
	at     time.Time
	orders []*order
	made   []ipam.Claim
}

// add records a requested claim and the claim that the request created. change sets the fields that the server adds.
func (r *storedRequest) add(asked ipam.Claim, change func(*ipam.Claim)) {
	asked = asOrdered(asked, "first")
	r.orders = append(r.orders, &order{claim: asked})
	c := asked
	c.CreatedAt, c.UpdatedAt = r.at, r.at
	c.Block, c.PoolID, c.PoolProjectID, c.ReclaimPolicy = netip.MustParsePrefix("10.1.2.0/24"), ipam.ID{7}, c.ProjectID, ipam.ReclaimDelete
	c.Pool = c.Spec.PoolRef
	if change != nil {
		change(&c)
	}
	r.made = append(r.made, c)
}

// asOrdered returns a claim as the server prepares it for one request. Each call sets new ids and times.
func asOrdered(c ipam.Claim, by string) ipam.Claim {
	c.UID, c.Revision, c.Project, c.ProjectID, c.Region, c.Generation, c.CreatedBy = ipam.NewID(), ipam.NewID(), "acme", ipam.ID{9}, "local", 1, by
	c.CreatedAt = time.Now().UTC()
	c.UpdatedAt, c.AllocationID = c.CreatedAt, allocationOf(c.UID)
	return c
}

func (r *storedRequest) stored() storage.StoredResponse {
	return usecase.StoredResponse(ipam.ID{9}, usecase.Request{Key: "k"}, r.at, encodeResponse(r.orders, r.made))
}

// repeated returns the orders of the same request, sent a second time.
func (r *storedRequest) repeated() (orders []*order) {
	for _, o := range r.orders {
		again := o.claim
		if again.GeneratedFrom != "" {
			again.Name = "another"
		}
		orders = append(orders, &order{claim: asOrdered(again, "first")})
	}
	return orders
}

func everything() *storedRequest {
	r := &storedRequest{at: time.Date(2026, 11, 20, 12, 0, 0, 123000, time.UTC)}
	length, net := 24, ipam.Ref{Project: "acme", Name: "net"}
	named := func(name string, spec ipam.ClaimSpec) ipam.Claim {
		return ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: spec}
	}
	byPool := named("by-pool", ipam.ClaimSpec{PoolRef: net, PrefixLength: &length, ReclaimPolicy: ipam.ReclaimDelete})
	r.add(byPool, nil)
	r.add(byPool, func(c *ipam.Claim) { c.Block = netip.MustParsePrefix("10.1.3.0/24") }) // the same pool again
	full := byPool
	full.Labels, full.Annotations = map[string]string{"a": "b"}, map[string]string{"c": "d"}
	full.Spec.OwnerRef = &ipam.OwnerRef{Kind: "VM", Name: "x", UID: "1"}
	r.add(full, func(c *ipam.Claim) { c.ReuseAfter = 90 * time.Second })
	generated := byPool
	generated.GeneratedFrom = "gen-"
	r.add(generated, func(c *ipam.Claim) { c.Region = "elsewhere" })
	r.add(named("by-class", ipam.ClaimSpec{ClassName: "small", Scope: map[string]string{"cluster": "c"}}), func(c *ipam.Claim) {
		c.Class = ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "platform", Name: "small"}}
		c.Pool, c.PoolID, c.PoolProjectID = ipam.Ref{Project: "platform", Name: "shared"}, ipam.NewID(), ipam.NewID()
		c.ReclaimPolicy = ipam.ReclaimRetain
	})
	r.add(named("again", ipam.ClaimSpec{AllocationRef: "its name"}), func(c *ipam.Claim) {
		c.AllocationID, c.Pool = ipam.NewID(), net
		c.Allocated.CreatedAt, c.Allocated.CreatedBy = r.at.Add(-time.Hour), "who had it first"
	})
	r.add(byPool, func(c *ipam.Claim) {
		c.Block, c.PoolID = netip.MustParsePrefix("2001:db8::/64"), ipam.NewID()
	})
	return r
}

func TestStoredResponseRestoresTheCreatedClaims(t *testing.T) {
	t.Parallel()
	all := everything()
	got, err := decodeResponse(all.repeated(), all.stored())
	require.NoError(t, err)
	require.Equal(t, all.made, got)
	for i := range all.made { // each claim alone
		one := &storedRequest{at: all.at, orders: all.orders[i : i+1], made: all.made[i : i+1]}
		got, err := decodeResponse(one.repeated(), one.stored())
		require.NoError(t, err)
		require.Equal(t, one.made, got)
	}
}

func TestStoredResponseIsLittleLargerThanItsIDs(t *testing.T) {
	t.Parallel()
	all := everything()
	one := &storedRequest{at: all.at, orders: all.orders[:1], made: all.made[:1]}
	require.LessOrEqual(t, len(one.stored().Body), 64)
	two := &storedRequest{at: all.at, orders: all.orders[:2], made: all.made[:2]}
	require.LessOrEqual(t, len(two.stored().Body)-len(one.stored().Body), 40)
}

func TestTruncatedStoredResponseIsAnError(t *testing.T) {
	t.Parallel()
	all := everything()
	a := all.stored()
	for n := range a.Body {
		cut := a
		cut.Body = a.Body[:n]
		_, err := decodeResponse(all.repeated(), cut)
		require.ErrorIs(t, err, errStoredResponse, "%d bytes", n)
	}
	more := a
	more.Body = append(slices.Clip(a.Body), 0)
	_, err := decodeResponse(all.repeated(), more)
	require.ErrorIs(t, err, errStoredResponse)
	_, err = decodeResponse(all.repeated()[1:], a)
	require.ErrorIs(t, err, errStoredResponse)
}
