package claims

import (
	"context"
	"encoding/json"

	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// maxSelectors and maxAsks limit the look-ups that a batch causes before its transaction. maxNewScopes limits the pools that a batch carves. Several
// claims with the same spec count once.
const (
	maxSelectors = 16
	maxAsks      = 128
	maxNewScopes = 32
)

// chooser chooses the pools for a batch's claims. It chooses once for all claims with the same spec.
type chooser struct {
	rooms    *roomFinder
	resolver *resolve.Resolver
	classes  pools.ClassCache
	key      storage.ProjectKey

	choices  map[string]*choice
	selected map[string][]ipam.Pool             // each selector's pools, by the selector's JSON text
	facts    map[batchSource]storage.ClaimFacts // the facts about each named pool and class
	asks     int
	scopes   map[ipam.ID]bool
}

// batchSource identifies the pool or class that a claim names.
type batchSource struct {
	pool   ipam.Ref
	class  string
	family ipam.Family // the default class's family; empty with poolRef
}

// chooseAll chooses the pools for all claims in a request.
func (s *chooser) chooseAll(ctx context.Context, orders []*order) error {
	s.choices, s.selected, s.facts, s.scopes = map[string]*choice{}, map[string][]ipam.Pool{}, map[batchSource]storage.ClaimFacts{}, map[ipam.ID]bool{}
	for i, o := range orders {
		// In most batches the specs are equal. This comparison saves the encoding.
		if i > 0 && o.claim.Spec.Alike(&orders[i-1].claim.Spec) {
			o.choice = orders[i-1].choice
			continue
		}
		same := o.claim.Spec
		same.OwnerRef = nil
		text, err := json.Marshal(same)
		if err != nil {
			return ipam.Errorf(ipam.CodeInternal, "The batch cannot be read.").WithCause(err)
		}
		if o.choice = s.choices[string(text)]; o.choice != nil {
			continue
		}
		o.choice = &choice{}
		s.choices[string(text)] = o.choice
		if err := s.choose(ctx, o); err != nil {
			return inItem(o.choice.Explained(err), i)
		}
		if sc := o.choice.First; sc != nil {
			if s.scopes[sc.ID()] = true; len(s.scopes) > maxNewScopes {
				return inItem(ipam.Invalid("/spec/scope", "exceeds the limit of %d new scopes in a batch.", maxNewScopes), i)
			}
		}
	}
	return nil
}

// choose resolves the pools for one claim. The result is valid for all claims with the same spec.
func (s *chooser) choose(ctx context.Context, o *order) error {
	to, spec := o.choice, o.claim.Spec
	if err := s.checkLimit(spec); err != nil {
		return err
	}
	facts, err := s.lookUp(ctx, o)
	if err != nil {
		return err
	}
	if to.Resolved, err = s.resolver.Resolve(ctx, s.key, spec, facts, s.candidates); err != nil {
		return err
	}
	if to.candidates = to.Pools; len(to.Pools) > 1 && !spec.Exact().IsValid() {
		if to.candidates, err = s.rooms.withRoom(ctx, &to.Resolved, to.Pools); err != nil {
			return err
		}
	}
	// If all pools are full, the transaction returns the refusal by the first one.
	if len(to.candidates) == 0 {
		to.candidates = to.Pools[:1]
	}
	return nil
}

// checkLimit counts the requests that need their own look-up, and refuses a request above the limit.
func (s *chooser) checkLimit(spec ipam.ClaimSpec) error {
	pointer := "/spec/scope"
	if spec.PoolSelector != nil {
		pointer = "/spec/poolSelector"
	} else if len(spec.Scope) == 0 {
		return nil
	}
	if s.asks++; s.asks > maxAsks {
		return ipam.Invalid(pointer, "exceeds the limit of %d different requests by selector or scope in a batch.", maxAsks)
	}
	return nil
}

// lookUp reads the pool or the class that a claim names, once for all claims that name it.
func (s *chooser) lookUp(ctx context.Context, o *order) (storage.ClaimFacts, error) {
	from := batchSource{pool: o.claim.Spec.PoolRef}
	class := resolve.ClassQuery(o.claim.Spec)
	if class != nil {
		from.class, from.family = class.Name, class.Family
	}
	facts, known := s.facts[from]
	if known || o.claim.Spec.PoolSelector != nil {
		return facts, nil
	}
	facts, err := s.classes.LookUp(ctx, s.rooms.Store, storage.ClaimQuery{Project: s.key, Pool: o.claim.Spec.PoolRef, Class: class, Now: o.claim.CreatedAt})
	if err == nil {
		s.facts[from] = facts
	}
	return facts, err
}

// candidates returns a selector's pools. It reads them once for all claims with that selector.
func (s *chooser) candidates(ctx context.Context, key storage.ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error) {
	text, err := json.Marshal(sel)
	if err != nil {
		return nil, ipam.Errorf(ipam.CodeInternal, "The batch cannot be read.").WithCause(err)
	}
	found, known := s.selected[string(text)]
	if known {
		return found, nil
	}
	if len(s.selected) == maxSelectors {
		return nil, ipam.Invalid("/spec/poolSelector", "exceeds the limit of %d different selectors in a batch.", maxSelectors)
	}
	found, err = s.resolver.Candidates(ctx, key, sel)
	s.selected[string(text)] = found
	return found, err
}
