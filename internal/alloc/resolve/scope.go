package resolve

import (
	"encoding/hex"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scope is one combination of values for which a class has a pool. Only some classes have scopes.
type scope struct {
	Class  ipam.Class
	key    storage.ProjectKey // the claim's project
	values map[string]string
	Text   string
}

// ID returns the scope's lock id. The id depends only on the class, the project and the values.
func (sc scope) ID() ipam.ID {
	return ipam.DerivedID(ipam.DerivedID(sc.Class.UID, sc.key.ID.String()), sc.Text)
}

func (sc scope) name() string {
	id := sc.ID()
	return sc.Class.Name[:min(len(sc.Class.Name), 50)] + "-" + hex.EncodeToString(id[10:])
}

// Block returns the block that the scope's pool must have for a claim with an exact CIDR. If the claim has no exact CIDR, Block returns an invalid
// prefix, and any block is possible.
func (sc scope) Block(a Request) netip.Prefix {
	exact := a.Spec.Exact()
	if !exact.IsValid() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(exact.Addr(), *sc.Class.Spec.PoolPrefixLength).Masked()
}

// MayCarve reports whether the scope's pool may be carved from a parent pool. The parent must list the class, and must belong to the class's or the
// claim's project.
func (sc scope) MayCarve(parent ipam.Pool) bool {
	return parent.Backs(sc.Class.UID) && (parent.ProjectID == sc.key.ID || parent.ProjectID == sc.Class.ProjectID)
}

// Fits returns the reason why the scope's pool can never be carved from a parent pool, or can never serve the claim.
func (sc scope) Fits(a Request, parent ipam.Pool) error {
	block := sc.Block(a)
	if block.IsValid() {
		return parent.AdmitExact(ExactPointer(a.Spec), block)
	}
	if a.length() == nil && !a.PoolAlone {
		return ipam.Invalid("/spec/prefixLength", "is required: class %s has no defaultPrefixLength.", sc.Class.Ref())
	}
	return parent.Admit("/spec/className", *sc.Class.Spec.PoolPrefixLength)
}

// Request returns the request for the scope's pool to its parent pool.
func (sc scope) Request(a Request, parent ipam.Pool, random ipam.ID, attempt int) freespace.BlockRequest {
	return carve.RequestFor(sc.Block(a), *sc.Class.Spec.PoolPrefixLength, parent.Spec.Allocation.Strategy, random, parent.Block, attempt)
}

// Pool returns the scope's pool for a block that is carved from a parent pool. The caller chooses uid before the transaction, so that a retry uses
// the same id.
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

// BlockSpecOf returns the block that is needed from one pool: the claim's block, or the block for the scope's pool.
func (r *Resolved) BlockSpecOf(p ipam.Pool) (BlockSpec, error) {
	if r.First == nil {
		return r.Ask.BlockSpec(p)
	}
	return BlockSpec{Exact: r.First.Block(r.Ask), Bits: *r.First.Class.Spec.PoolPrefixLength}, r.First.Fits(r.Ask, p)
}

// Bits returns the prefix length that is needed from a pool. If the pool can never serve the claim, it returns -1.
func (r *Resolved) Bits(p ipam.Pool) int {
	if r.First != nil {
		return *r.First.Class.Spec.PoolPrefixLength
	}
	w, err := r.Ask.BlockSpec(p)
	if err != nil {
		return -1
	}
	return w.Bits
}
