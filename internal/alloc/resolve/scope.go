package resolve

import (
	"encoding/hex"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scope is one combination of values that a scoped class has a pool for.
type scope struct {
	Class  ipam.Class
	key    storage.ProjectKey // the claiming project
	values map[string]string
	Text   string
}

// ID names the scope for locks and turns: the same wherever it is computed.
func (sc scope) ID() ipam.ID {
	return ipam.DerivedID(ipam.DerivedID(sc.Class.UID, sc.key.ID.String()), sc.Text)
}

// name of the scope's pool.
func (sc scope) name() string {
	id := sc.ID()
	return sc.Class.Name[:min(len(sc.Class.Name), 50)] + "-" + hex.EncodeToString(id[10:])
}

// Block is the block that the scope's pool must have, for a claim of a very block; invalid: any will do.
func (sc scope) Block(a Ask) netip.Prefix {
	exact := a.Spec.Exact()
	if !exact.IsValid() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(exact.Addr(), *sc.Class.Spec.PoolPrefixLength).Masked()
}

// MayCarve reports whether the scope's pool may be carved from a pool: it lists the class, and is of the class's project or of the claim's.
func (sc scope) MayCarve(parent ipam.Pool) bool {
	return parent.Backs(sc.Class.UID) && (parent.ProjectID == sc.key.ID || parent.ProjectID == sc.Class.ProjectID)
}

// Fits says why the scope's pool can never be carved from a pool, or the claim never be served by it.
func (sc scope) Fits(a Ask, parent ipam.Pool) error {
	block := sc.Block(a)
	if block.IsValid() {
		return parent.AdmitExact(ExactPointer(a.Spec), block)
	}
	if a.length() == nil && !a.PoolAlone {
		return ipam.Invalid("/spec/prefixLength", "is required: class %s has no defaultPrefixLength.", sc.Class.Ref())
	}
	return parent.Admit("/spec/className", *sc.Class.Spec.PoolPrefixLength)
}

// Wish is the scope's pool as a wish of its parent.
func (sc scope) Wish(a Ask, parent ipam.Pool, random ipam.ID, attempt int) space.Wish {
	return carve.WishFor(sc.Block(a), *sc.Class.Spec.PoolPrefixLength, parent.Spec.Allocation.Strategy, random, parent.Block, attempt)
}

// Pool is the scope's pool, carved from a parent. uid is fixed before the transaction.
func (sc scope) Pool(parent ipam.Pool, block netip.Prefix, uid ipam.ID, at usecase.Timestamp) ipam.Pool {
	bits := block.Bits()
	return ipam.Pool{
		Metadata: ipam.Metadata{
			Name: sc.name(), UID: uid, Project: parent.Project, Region: parent.Place(), Generation: 1, Revision: ipam.DerivedID(uid, "revision"),
			CreatedAt: at, UpdatedAt: at, CreatedBy: pools.ScopeKeeper,
		},
		ProjectID: parent.ProjectID, SpaceID: parent.SpaceID, Space: parent.Space,
		ContainerID: parent.UID, ContainerProjectID: parent.ProjectID, Block: block,
		Spec: ipam.PoolSpec{
			Parent: parent.Ref(), PrefixLength: &bits, Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.BestFit}, ReuseAfter: parent.Spec.ReuseAfter,
		},
		Scope: &ipam.PoolScope{Class: sc.Class.AsRef(), ProjectID: sc.key.ID, Project: sc.key.Name, Values: sc.values, Key: sc.Text},
	}
}

// WantedOf is what is wanted of one of the pools: the claim's block, or the scope's pool.
func (r *Resolved) WantedOf(p ipam.Pool) (Want, error) {
	if r.First == nil {
		return r.Ask.Wanted(p)
	}
	return Want{Exact: r.First.Block(r.Ask), Bits: *r.First.Class.Spec.PoolPrefixLength}, r.First.Fits(r.Ask, p)
}

// Bits is the length of the block that is wanted of a pool; -1: none could be.
func (r *Resolved) Bits(p ipam.Pool) int {
	if r.First != nil {
		return *r.First.Class.Spec.PoolPrefixLength
	}
	w, err := r.Ask.Wanted(p)
	if err != nil {
		return -1
	}
	return w.Bits
}
