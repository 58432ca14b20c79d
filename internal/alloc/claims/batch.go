package claims

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// MaxBatch is the largest number of claims in one batch.
const MaxBatch = 1000

// CreateClaimBatch binds all the claims in one transaction, or none. They are served in order, each from the first of
// its eligible pools that has room.
func (s *Claims) CreateClaimBatch(ctx context.Context, project string, claims []ipam.Claim, r usecase.Request) (usecase.Result[[]ipam.Claim], error) {
	answer, err := s.makeBatch(ctx, project, claims, r)
	s.decidedAll(ctx, answer.Value, r, answer.Replayed, err)
	s.followBatch(ctx, answer.Replayed, err)
	return answer, err
}

func (s *Claims) makeBatch(ctx context.Context, project string, claims []ipam.Claim, r usecase.Request) (usecase.Result[[]ipam.Claim], error) {
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
	b := batch{key: key, request: r, items: make([]batchItem, len(claims))}
	names, event := make(map[string]int, len(claims)), trail.Attempt(ctx, s.Now(), key.ID, trail.KindClaim, "")
	for i, c := range claims {
		if c.Spec.AllocationRef != "" {
			return none, ipam.Invalid(itemPointer(i)+"/spec/allocationRef", "cannot be used in a batch.")
		}
		if c, err = s.prepareClaim(c, key, who); err != nil {
			return none, inItem(err, i)
		}
		if j, twice := names[c.Name]; twice {
			return none, ipam.Invalid(itemPointer(i)+"/metadata/name", "is the same as that of claim %d of this batch.", j)
		}
		names[c.Name] = i
		event.ID, event.At, event.Name = ipam.NewTimeID(c.CreatedAt), c.CreatedAt, c.Name
		b.items[i] = batchItem{claim: c, random: ipam.NewID(), event: event}
	}
	leave, err := s.batching.Enter(ctx, key.ID)
	if err != nil {
		return none, err
	}
	defer leave()
	return usecase.Once(ctx, s.Core, key, r, nil, func(ctx context.Context) ([]ipam.Claim, error) {
		return s.bindBatch(ctx, &b)
	})
}

type batch struct {
	key     storage.ProjectKey
	request usecase.Request
	items   []batchItem

	single    bool                               // not a batch, but the first claim of a scope
	onlyLooks bool                               // it is a dry run that takes no lock and writes no row, not even to take it back
	selected  map[string][]ipam.Pool             // what each selector finds, by its text
	facts     map[batchSource]storage.ClaimFacts // what is known of each pool and class that is named
}

// batchSource is what a claim names to be served from.
type batchSource struct {
	pool   ipam.Ref
	class  string
	family ipam.Family // whose default class; none by poolRef
}

type batchItem struct {
	claim  ipam.Claim
	random ipam.ID
	event  ipam.Event // without the effect
	choice *choice
}

// choice is how all items that ask for the same are served.
type choice struct {
	resolve.Resolved
	room  []ipam.Pool // those of the pools that had room when the batch began
	items []int
}

func (s *Claims) bindBatch(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	byPool, err := s.batchPools(ctx, b)
	if err != nil {
		return nil, err
	}
	bound, err := s.runBatchBorrowing(ctx, b, byPool)
	return bound, s.Refusals.Counted(ctx, err)
}

// runBatch is the transaction of a batch whose pools are chosen. byPool answers who may draw on each pool.
func (s *Claims) runBatch(ctx context.Context, b *batch, byPool map[ipam.ID][]*choice) ([]ipam.Claim, error) {
	// The turns of the pools that are tried first. Others may be opened on the way; there the transaction waits.
	var ids []ipam.ID
	for _, c := range b.choices() {
		if len(c.room) > 0 {
			ids = append(ids, storage.PoolContainer(c.room[0]).Lock())
		}
		if c.First != nil {
			ids = append(ids, c.First.ID())
		}
	}
	locks := storage.Locks{Alone: ids, Shared: b.classes()}
	if b.onlyLooks = b.request.DryRun && len(s.Store.KnownRegions()) <= 1; b.onlyLooks {
		locks = storage.Locks{} // it reads one moment of the pool, and keeps nobody from it
	} else {
		release, err := s.Lanes.AcquireFor(ctx, b.lane(), ids...)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	op := "claim_batch"
	if b.single {
		op = "claim_first"
	}
	bound, err := usecase.Settled(ctx, s.Core, op, locks, b.request.DryRun, func(ctx context.Context, tx storage.Tx) ([]ipam.Claim, error) {
		return s.batchTx(ctx, tx, b, byPool)
	}, func(ctx context.Context) ([]ipam.Claim, bool, error) {
		return s.readBatch(ctx, b)
	})
	if usecase.NameTaken(err) && slices.ContainsFunc(b.choices(), func(c *choice) bool { return c.First != nil }) {
		return nil, &storage.Conflict{} // names of claims are told as conflicts: a scope's pool has been made meanwhile, so look again
	}
	if c, ok := storage.AsConflict(err); ok && !b.single && len(c.AnswerKeys) == 0 && len(c.ClaimRefs) > 0 { // a used key: once looks again
		if err := usecase.StillThere(ctx, s.Store, b.key); err != nil {
			return nil, err
		}
		for i := range b.items {
			claim := &b.items[i].claim
			if claim.Name != c.ClaimRefs[0].Name {
				continue
			}
			if claim.Rename() {
				return nil, c // once looks again
			}
			return nil, s.Exists(ctx, inItem(claimExists(*claim, "/metadata/name"), i), func(ctx context.Context) error {
				_, err := s.Store.ClaimGet(ctx, b.key, claim.Name)
				return err
			})
		}
	}
	if err == nil && !b.request.DryRun {
		s.tookAll(b, bound)
	}
	return bound, err
}

// tookAll moves on the shares of the pools that the batch has taken from.
func (s *Claims) tookAll(b *batch, bound []ipam.Claim) {
	for i := range bound {
		c, room := &bound[i], b.items[i].choice.room
		if at := slices.IndexFunc(room, func(p ipam.Pool) bool { return p.UID == c.PoolID }); at >= 0 {
			s.resolve.Shares.Took(room[at], c.Block.Bits())
		}
	}
}

// maxSelectors and maxAsks bound what a batch has looked for before its transaction, maxNewScopes the pools that it carves. Claims that
// ask for the same count once.
const (
	maxSelectors = 16
	maxAsks      = 128
	maxNewScopes = 32
)

// classes is what must stay while the batch is bound: its project, and the classes that it carves pools for.
func (b *batch) classes() []ipam.ID {
	ids := []ipam.ID{b.key.ID}
	for _, c := range b.choices() {
		if c.First != nil {
			ids = append(ids, c.First.Class.UID)
		}
	}
	return ids
}

// choices is what the items ask for, each once, in the order of the first that does.
func (b *batch) choices() (all []*choice) {
	for i := range b.items {
		if c := b.items[i].choice; c.items[0] == i {
			all = append(all, c)
		}
	}
	return all
}

// batchPools resolves each item's pools, once for all items that ask for the same, and answers who may draw on each pool.
func (s *Claims) batchPools(ctx context.Context, b *batch) (map[ipam.ID][]*choice, error) {
	choices := map[string]*choice{}
	byPool := map[ipam.ID][]*choice{}
	b.selected, b.facts = map[string][]ipam.Pool{}, map[batchSource]storage.ClaimFacts{}
	asks, scopes := 0, map[ipam.ID]bool{}
	for i := range b.items {
		it := &b.items[i]
		if i > 0 && alike(&it.claim.Spec, &b.items[i-1].claim.Spec) { // as in most batches: not written down to be compared
			it.choice = b.items[i-1].choice
			it.choice.items = append(it.choice.items, i)
			continue
		}
		same := it.claim.Spec
		same.OwnerRef = nil
		key, err := json.Marshal(same)
		if err != nil {
			return nil, ipam.Errorf(ipam.CodeInternal, "The batch cannot be read.").Because(err)
		}
		if it.choice = choices[string(key)]; it.choice != nil {
			it.choice.items = append(it.choice.items, i)
			continue
		}
		if same.PoolSelector != nil || len(same.Scope) > 0 {
			pointer := "/spec/scope"
			if same.PoolSelector != nil {
				pointer = "/spec/poolSelector"
			}
			if asks++; asks > maxAsks {
				return nil, inItem(ipam.Invalid(pointer, "is one more than the %d different requests that a batch may make by selectors and in scopes.", maxAsks), i)
			}
		}
		it.choice = &choice{items: []int{i}}
		choices[string(key)] = it.choice
		if err := s.choose(ctx, b, it.claim, it.choice); err != nil {
			return nil, inItem(it.choice.Explained(err), i)
		}
		if sc := it.choice.First; sc != nil {
			if scopes[sc.ID()] = true; len(scopes) > maxNewScopes {
				return nil, inItem(ipam.Invalid("/spec/scope", "is one more than the %d new scopes that a batch can open.", maxNewScopes), i)
			}
		}
		for _, p := range it.choice.room {
			byPool[p.UID] = append(byPool[p.UID], it.choice)
		}
	}
	return byPool, nil
}

// choose resolves what a claim of the batch is served from.
func (s *Claims) choose(ctx context.Context, b *batch, c ipam.Claim, to *choice) error {
	from := batchSource{pool: c.Spec.PoolRef}
	class := resolve.ClassQuery(c.Spec)
	if class != nil {
		from.class, from.family = class.Name, class.Family
	}
	facts, known := b.facts[from]
	if !known && c.Spec.PoolSelector == nil {
		var err error
		if facts, err = s.classes.LookUp(ctx, s.Store, storage.ClaimQuery{Project: b.key, Pool: c.Spec.PoolRef, Class: class, Now: c.CreatedAt}); err != nil {
			return err
		}
		b.facts[from] = facts
	}
	var err error
	to.Resolved, err = s.resolve.Resolve(ctx, b.key, c.Spec, facts, func(ctx context.Context, _ storage.ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error) {
		return b.candidates(ctx, s, sel)
	})
	if err != nil {
		return err
	}
	if to.room = to.Pools; len(to.Pools) > 1 && !c.Spec.Exact().IsValid() {
		if to.room, err = s.withRoom(ctx, &to.Resolved, to.Pools); err != nil {
			return err
		}
	}
	if len(to.room) == 0 { // all are full: one of them says so in the transaction
		to.room = to.Pools[:1]
	}
	return nil
}

// candidates is the pools of a selector, read once for all items with the same one.
func (b *batch) candidates(ctx context.Context, s *Claims, sel *ipam.Selector) ([]ipam.Pool, error) {
	text, err := json.Marshal(sel)
	if err != nil {
		return nil, ipam.Errorf(ipam.CodeInternal, "The batch cannot be read.").Because(err)
	}
	found, known := b.selected[string(text)]
	if known {
		return found, nil
	}
	if len(b.selected) == maxSelectors {
		return nil, ipam.Invalid("/spec/poolSelector", "is one more than the %d different selectors that a batch may have.", maxSelectors)
	}
	found, err = s.resolve.Candidates(ctx, b.key, sel)
	b.selected[string(text)] = found
	return found, err
}

// readBatch finds out whether the batch was committed: all of it or none, so that one claim found by its id is proof. A claim
// of a committed batch that is gone by now is answered as it was prepared, without a block.
func (s *Claims) readBatch(ctx context.Context, b *batch) ([]ipam.Claim, bool, error) {
	out := make([]ipam.Claim, len(b.items))
	var committed atomic.Bool
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readBackParallel)
	for i, it := range b.items {
		g.Go(func() error {
			got, found, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, b.key, it.claim.Name))
			if err != nil {
				return err
			}
			if out[i] = it.claim; found && got.UID == it.claim.UID {
				out[i] = got
				committed.Store(true)
			}
			return nil
		})
	}
	err := g.Wait()
	return out, committed.Load(), err
}

// readBackParallel is how many claims of a batch are read at once.
const readBackParallel = 8

func itemPointer(i int) string { return "/claims/" + strconv.Itoa(i) }

// inItem moves the places that an error names into item i of the batch.
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
			c.Message = strings.Replace(c.Message, ": "+p+" ", ": "+itemPointer(i)+p+" ", 1) // as ipam.Invalid writes it
		}
	}
	if len(c.Fields) == 0 {
		c.Fields = []ipam.Field{{Pointer: itemPointer(i), Detail: "cannot be served."}}
	}
	return &c
}

// inBatch is inItem, of a batch of n claims, for refusals by a pool or a quota, which the items before this one may have caused.
func inBatch(err error, i, n int) error {
	err = inItem(err, i)
	e, ok := err.(*ipam.Error) //nolint:errorlint // see inItem
	if !ok {
		return err
	}
	switch e.Code {
	case ipam.CodePoolExhausted, ipam.CodeExhaustedByCooldown:
		if i > 0 { // and the sentence is of before the batch, as the figures are
			e.Message = fits(i, n) + e.Message
		}
	case ipam.CodeQuotaExceeded:
		if i > 0 {
			e.Message = fits(i, n) + "Counted up to the next: " + e.Message
		}
	default:
		return err
	}
	e.Figures.Fitting = new(int64(i))
	return err
}

// fits says how many of a batch's claims fit when not all of them do.
func fits(i, n int) string {
	first := "first " + strconv.Itoa(i) + " fit"
	if i == 1 {
		first = "first fits"
	}
	return "The batch does not fit: of its " + strconv.Itoa(n) + " claims the " + first + ", and not the next; nothing was claimed. "
}

// lane is the kind of turn that the batch wants.
func (b *batch) lane() turns.TurnKind {
	if b.single {
		return turns.Short
	}
	return turns.Long
}
