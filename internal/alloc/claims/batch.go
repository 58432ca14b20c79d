package claims

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/attach"
	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MaxBatch is the largest number of claims in one batch.
const MaxBatch = 1000

type batches struct {
	*usecase.Core

	prepare  preparer
	resolver *resolve.Resolver
	refusals *refusals.Refusals
	atomic   *atomicBatch
	rooms    *roomFinder
	classes  pools.ClassCache
	slots    *locks.FairSemaphore
}

// CreateClaimBatch binds all claims in one transaction, or none. It serves the claims in their order. Each claim gets its block from the first
// eligible pool that has room.
func (s *batches) CreateClaimBatch(ctx context.Context, project string, claims []ipam.Claim, r usecase.Request) (usecase.Result[[]ipam.Claim], error) {
	result, err := s.create(ctx, project, claims, r)
	reporter{s.Core}.recordBatch(ctx, result, r, err)
	return result, err
}

func (s *batches) create(ctx context.Context, project string, claims []ipam.Claim, r usecase.Request) (usecase.Result[[]ipam.Claim], error) {
	none := usecase.Result[[]ipam.Claim]{}
	who, key, err := s.Enter(ctx, tenancy.ClaimsWrite, project)
	if err != nil {
		return none, err
	}
	if len(claims) == 0 || len(claims) > MaxBatch {
		return none, ipam.Invalid("/claims", "must hold 1 to %d claims; it holds %d.", MaxBatch, len(claims))
	}
	if err := tenancy.BudgetOf(ctx).Charge(tenancy.Work{Blocks: len(claims)}); err != nil {
		return none, err
	}
	orders, err := s.orders(ctx, key, who, claims, r)
	if err != nil {
		return none, err
	}
	for i, o := range orders {
		if err := attach.CheckLimit(ctx, s.Core, key.ID, "/spec/consumers", o.claim.Spec.Consumers...); err != nil {
			return none, inItem(err, i)
		}
	}
	leave, err := s.slots.AcquireForWork(ctx, key.ID)
	if err != nil {
		return none, err
	}
	defer leave()
	read := func(a storage.StoredResponse) ([]ipam.Claim, error) { return decodeResponse(orders, a) }
	return usecase.RunIdempotent(ctx, s.Core, key, r, nil, read, func(ctx context.Context) ([]ipam.Claim, error) {
		return s.bind(ctx, key, orders)
	})
}

func (s *batches) orders(ctx context.Context, key storage.ProjectKey, who tenancy.Principal, claims []ipam.Claim, r usecase.Request) (_ []*order, err error) {
	orders, all, names := make([]*order, len(claims)), make([]order, len(claims)), make(map[string]int, len(claims))
	event := trail.Attempt(ctx, s.Now(), key.ID, trail.KindClaim, "")
	for i, c := range claims {
		if c.Spec.AllocationRef != "" {
			return nil, ipam.Invalid(itemPointer(i)+"/spec/allocationRef", "cannot be used in a batch.")
		}
		if c, err = s.prepare.claim(c, key, who); err != nil {
			return nil, inItem(err, i)
		}
		if j, twice := names[c.Name]; twice {
			return nil, ipam.Invalid(itemPointer(i)+"/metadata/name", "repeats the name of claim %d in this batch.", j)
		}
		names[c.Name] = i
		event.Name = c.Name // the first event sets the ids; other events in the same transaction follow it
		all[i] = order{key: key, request: r, claim: c, random: ipam.NewID(), event: event}
		orders[i] = &all[i]
	}
	return orders, nil
}

func (s *batches) bind(ctx context.Context, key storage.ProjectKey, orders []*order) ([]ipam.Claim, error) {
	choose := chooser{rooms: s.rooms, resolver: s.resolver, classes: s.classes, key: key}
	if err := choose.chooseAll(ctx, orders); err != nil {
		return nil, err
	}
	bound, err := s.atomic.bind(ctx, newBatch(batchTx, orders))
	// If an idempotency key is in use, RunIdempotent repeats the key's look-up.
	if c, ok := storage.AsConflict(err); ok && len(c.IdempotencyKeys) == 0 && len(c.ClaimRefs) > 0 {
		err = s.nameTaken(ctx, key, orders, c)
	}
	return bound, s.refusals.WithFigures(ctx, err)
}

// nameTaken returns the refusal for a claim with a name in use. For a generated name, it generates another name and returns the conflict. The caller
// then retries the batch.
func (s *batches) nameTaken(ctx context.Context, key storage.ProjectKey, orders []*order, c *storage.Conflict) error {
	if err := usecase.CheckProjectExists(ctx, s.Store, key); err != nil {
		return err
	}
	for i, o := range orders {
		if o.claim.Name != c.ClaimRefs[0].Name {
			continue
		}
		if o.claim.Rename() {
			return c
		}
		return s.RefuseTakenName(ctx, inItem(claimExists(o.claim, "/metadata/name"), i), func(ctx context.Context) error {
			_, err := s.Store.ClaimGet(ctx, key, o.claim.Name)
			return err
		})
	}
	return c
}

func itemPointer(i int) string { return "/claims/" + strconv.Itoa(i) }

// inItem changes an error's field pointers so that they name the batch's item i.
func inItem(err error, i int) error {
	e, ok := err.(*ipam.Error) //nolint:errorlint // only the refusal itself is re-pointed
	if !ok {
		return err
	}
	c := *e
	c.Fields = slices.Clone(e.Fields)
	for n := range c.Fields {
		if p := c.Fields[n].Pointer; p != "" && p[0] == '/' {
			c.Fields[n].Pointer = itemPointer(i) + p
			c.Message = strings.Replace(c.Message, ": "+p+" ", ": "+itemPointer(i)+p+" ", 1) // the text that ipam.Invalid writes
		}
	}
	if len(c.Fields) == 0 {
		c.Fields = []ipam.Field{{Pointer: itemPointer(i), Detail: "cannot be served."}}
	}
	return &c
}

// inBatch works like inItem, for a refusal by a pool or a quota in a batch with n claims. It adds the number of claims that fit, because the earlier
// items may have caused the refusal.
func inBatch(err error, i, n int) error {
	err = inItem(err, i)
	e, ok := err.(*ipam.Error) //nolint:errorlint // see inItem
	if !ok {
		return err
	}
	switch e.Code {
	case ipam.CodePoolExhausted, ipam.CodeExhaustedByCooldown:
		if i > 0 { // the figures and the message describe the state before the batch
			e.Message = fitSentence(i, n) + e.Message
		}
	case ipam.CodeQuotaExceeded:
		if i > 0 {
			e.Message = fitSentence(i, n) + "With the next claim: " + e.Message
		}
	default:
		return err
	}
	e.Figures.Fitting = new(int64(i))
	return err
}

// fitSentence returns a sentence for a batch that does not fit as a whole. The sentence gives the number of claims that fit.
func fitSentence(i, n int) string {
	first := "first " + strconv.Itoa(i) + " fit"
	if i == 1 {
		first = "first fits"
	}
	return "The batch does not fit. Of its " + strconv.Itoa(n) + " claims, the " + first + " and the next does not. Nothing was claimed. "
}
