package alloc

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scope is one combination of values that a scoped class has a pool for.
type scope struct {
	class  ipam.Class
	key    ProjectKey // the claiming project
	values map[string]string
	text   string
}

// ScopeKeeper is the subject that makes and removes scoped pools. It is no caller's name: theirs are not for the pool's owner to see.
const ScopeKeeper = "carve:scopes"

// id names the scope for locks and turns: the same wherever it is computed.
func (sc scope) id() ipam.ID {
	return ipam.DerivedID(ipam.DerivedID(sc.class.UID, sc.key.ID.String()), sc.text)
}

// name of the scope's pool.
func (sc scope) name() string {
	id := sc.id()
	return sc.class.Name[:min(len(sc.class.Name), 50)] + "-" + hex.EncodeToString(id[10:])
}

// block is the block that the scope's pool must have, for a claim of a very block; invalid: any will do.
func (sc scope) block(a ask) netip.Prefix {
	exact := a.spec.Exact()
	if !exact.IsValid() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(exact.Addr(), *sc.class.Spec.PoolPrefixLength).Masked()
}

// mayCarve reports whether the scope's pool may be carved from a pool: it lists the class, and is of the class's project or of the claim's.
func (sc scope) mayCarve(parent ipam.Pool) bool {
	return parent.Backs(sc.class.UID) && (parent.ProjectID == sc.key.ID || parent.ProjectID == sc.class.ProjectID)
}

// fits says why the scope's pool can never be carved from a pool, or the claim never be served by it.
func (sc scope) fits(a ask, parent ipam.Pool) error {
	block := sc.block(a)
	if block.IsValid() {
		return parent.AdmitExact(exactPointer(a.spec), block)
	}
	if a.length() == nil {
		return ipam.Invalid("/spec/prefixLength", "is required: class %s has no defaultPrefixLength.", sc.class.Ref())
	}
	return parent.Admit("/spec/className", *sc.class.Spec.PoolPrefixLength)
}

// wish is the scope's pool as a wish of its parent.
func (sc scope) wish(a ask, parent ipam.Pool, random ipam.ID, attempt int) space.Wish {
	return wishFor(sc.block(a), *sc.class.Spec.PoolPrefixLength, parent.Spec.Allocation.Strategy, random, parent.Block, attempt)
}

// pool is the scope's pool, carved from a parent. uid is fixed before the transaction.
func (sc scope) pool(parent ipam.Pool, block netip.Prefix, uid ipam.ID, at timestamp) ipam.Pool {
	bits := block.Bits()
	return ipam.Pool{
		Metadata: ipam.Metadata{
			Name: sc.name(), UID: uid, Project: parent.Project, Region: parent.Place(), Generation: 1, Revision: ipam.DerivedID(uid, "revision"),
			CreatedAt: at, UpdatedAt: at, CreatedBy: ScopeKeeper,
		},
		ProjectID: parent.ProjectID, SpaceID: parent.SpaceID, Space: parent.Space,
		ContainerID: parent.UID, ContainerProjectID: parent.ProjectID, Block: block,
		Spec: ipam.PoolSpec{
			Parent: parent.Ref(), PrefixLength: &bits, Visibility: ipam.VisibilityConsumer,
			Allocation: ipam.Allocating{Strategy: ipam.BestFit}, ReuseAfter: parent.Spec.ReuseAfter,
		},
		Scope: &ipam.PoolScope{Class: sc.class.AsRef(), ProjectID: sc.key.ID, Project: sc.key.Name, Values: sc.values, Key: sc.text},
	}
}

// wantedOf is what is wanted of one of the pools: the claim's block, or the scope's pool.
func (r *resolved) wantedOf(p ipam.Pool) (want, error) {
	if r.first == nil {
		return r.ask.wanted(p)
	}
	return want{exact: r.first.block(r.ask), bits: *r.first.class.Spec.PoolPrefixLength}, r.first.fits(r.ask, p)
}

// bindFirst binds the first claim of a scope: one transaction carves the scope's pool and the claim from it, or leaves nothing behind. Who
// comes second finds the pool there and draws from it.
func (s *Service) bindFirst(ctx context.Context, res *resolved, room []ipam.Pool, b binding) (ipam.Claim, error) {
	one := batch{key: b.key, request: b.request, single: true, items: []batchItem{{
		claim: b.claim, random: b.random, event: b.event, choice: &choice{resolved: *res, room: room, items: []int{0}},
	}}}
	byPool := make(map[ipam.ID][]*choice, len(room))
	for _, p := range room {
		byPool[p.UID] = []*choice{one.items[0].choice}
	}
	bound, err := s.runBatchBorrowing(ctx, &one, byPool)
	if err = s.counted(ctx, err); err != nil {
		if lack, ok := errors.AsType[*quotaLack](err); ok && lack != nil {
			res.quotaRefused(err)
		}
		return ipam.Claim{}, err
	}
	for _, p := range room { // of several spaces, another one may cover the same addresses: a share need not be exact
		if !b.request.DryRun && p.Block.Contains(bound[0].Block.Addr()) {
			s.shares.took(p, *res.first.class.Spec.PoolPrefixLength)
		}
	}
	res.chosePool(bound[0])
	return bound[0], nil
}

// openScope opens the pool of an item's scope: as it was carved before in this transaction, or carved now from a parent. nil: that has
// no room.
func (run *batchRun) openScope(ctx context.Context, it batchItem, parent ipam.Pool) (*batchPool, error) {
	sc, key := it.choice.first, run.batch.key
	if t := run.scoped[sc.id()]; t != nil {
		return t, nil
	}
	if _, found, err := ignoreNotFound(run.tx.ScopedPool(ctx, sc.class.UID, key.ID, sc.text)); err != nil || found {
		if found { // somebody else was first: look again
			err = &Conflict{}
		}
		return nil, err
	}
	t, err := run.open(ctx, parent)
	if err != nil || t.gone {
		return nil, err
	}
	wish, fits := t.scopes[sc.id()]
	if !fits || !sc.mayCarve(t.pool) {
		return nil, nil //nolint:nilnil // said above
	}
	uid, now := ipam.DerivedID(it.claim.UID, "scoped pool"), run.tx.Now()
	made := &batchPool{wishes: map[int]space.Wish{}}
	like := sc.pool(t.pool, netip.PrefixFrom(t.pool.Block.Addr(), wish.Bits), uid, now)
	if err := run.ledger.take(ctx, key, poolPlace(like), onePool); err != nil {
		return nil, err
	}
	block, ok := t.carver.take(wish)
	if !ok {
		run.ledger.give(key.ID, poolPlace(like), onePool)
		return nil, nil //nolint:nilnil // said above
	}
	t.taken = append(t.taken, granted{wish, block})
	made.pool = sc.pool(t.pool, block, uid, now)
	if made.carver, err = newCarver(PoolContainer(made.pool), nil, []netip.Prefix{block}); err != nil {
		return nil, err
	}
	hold := poolHold(made.pool, source{container: PoolContainer(t.pool), spaceID: t.pool.SpaceID, space: t.pool.Space, parent: &t.pool})
	made.made = &hold
	run.scoped[sc.id()] = made
	run.order = append(run.order, made)
	return made, nil
}

// scopedPoolEvent records a scoped pool in the trail of its owner.
func scopedPoolEvent(p ipam.Pool) (ipam.Event, error) {
	return effected(keeperEvent(p, p.CreatedAt), nil, recordedPool(p))
}

// occupied unmarks a scoped pool that had been found empty, if one of the claims is made in it.
func occupied(p ipam.Pool, claims []ipam.Claim) []ScopedMark {
	if p.Scope == nil || p.EmptySince.IsZero() {
		return nil
	}
	for _, c := range claims {
		if c.PoolID == p.UID {
			return []ScopedMark{{PoolID: p.UID, Was: p.EmptySince}}
		}
	}
	return nil
}

// noneLeftInScope says that a scope's pool, which this batch would carve, has no room for all of the batch.
func noneLeftInScope(class ipam.Class, bits int) error {
	e := ipam.Errorf(ipam.CodePoolExhausted, "The pool of this scope of class %s is a /%d, and the claims before this one leave no room in it.", class.Ref(), bits)
	e.Figures.Class = class.Ref().String()
	return e
}
