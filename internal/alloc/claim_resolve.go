package alloc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

// resolved is how a claim is to be served: what it asks for under the policy of its class, and the pools to try, in order.
type resolved struct {
	ask   ask
	pools []ipam.Pool
	unfit []ipam.Pool // considered, and never able to serve this
	first *scope      // the pools are those from which a pool for this scope is to be carved: there is none yet
	decision
}

// classQuery asks for the class of a claim; nil: it is not served by a class.
func classQuery(spec ipam.ClaimSpec) *ClassQuery {
	if !spec.ByClass() {
		return nil
	}
	return &ClassQuery{Name: spec.ClassName, Family: spec.WantedFamily()}
}

// resolve finds the pools that may serve one claim. It is the only place that does: claims, batches and explanations come here, by
// class, by poolRef and by selector. facts holds what a ClaimQuery with the spec's pool and class answers. Whatever the error, the answer
// holds what was considered.
func (s *Service) resolve(ctx context.Context, key ProjectKey, spec ipam.ClaimSpec, facts ClaimFacts, find finder) (resolved, error) {
	r := resolved{ask: ask{spec: spec}, decision: decision{viewer: key, exact: spec.Exact().IsValid()}}
	var err error
	switch {
	case spec.AllocationRef != "": // the block is known
	case spec.ByClass():
		err = s.resolveClass(ctx, &r, key, facts.Class)
	case spec.PoolSelector != nil:
		err = r.resolveSelector(ctx, key, find)
	default:
		err = r.resolvePool(key, facts)
	}
	r.pools = s.nearby(r.pools)
	return r, err
}

// resolvePool: the claim names its pool.
func (r *resolved) resolvePool(key ProjectKey, facts ClaimFacts) error {
	p := facts.Pool
	if p == nil || !r.ask.mayDraw(key, *p, facts.Granted) {
		err := poolNotFound(r.ask.spec.PoolRef)
		if p != nil && p.Scope != nil && p.ProjectID == key.ID {
			err = ipam.Invalid("/spec/poolRef/name", "names a pool that was carved for claims of class %s in project %q alone; claim by the class.", p.Scope.Class.Ref, p.Scope.Project)
		}
		r.refusedRef(ipam.StepPool, r.ask.spec.PoolRef, err)
		return err
	}
	if p.ProjectID != key.ID {
		r.note(ipam.StepGrant, p.Ref(), ipam.OutcomeAllowed, "The pool is shared with the project by a grant.")
	}
	return r.keepFitting([]ipam.Pool{*p})
}

// finder finds the pools that a selector matches and that a project may use.
type finder func(ctx context.Context, key ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error)

// resolveSelector: every pool that matches and that the project may use.
func (r *resolved) resolveSelector(ctx context.Context, key ProjectKey, find finder) error {
	found, err := find(ctx, key, r.ask.spec.PoolSelector)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(p ipam.Pool) bool { return p.Scope != nil })
	if len(found) == 0 {
		return noPoolMatches(key)
	}
	return r.keepFitting(found)
}

// resolveClass: the named class, or the default one, and the pools behind it.
func (s *Service) resolveClass(ctx context.Context, r *resolved, key ProjectKey, facts ClassFacts) error {
	class := facts.Found
	if class == nil {
		return r.noClass(key)
	}
	r.ask.class = class
	why := "The claim names it."
	if r.ask.spec.ClassName == "" {
		why = fmt.Sprintf("It is the default class for %s of project %q; the claim names none.", class.Spec.Family, class.Project)
	}
	if err := r.ask.admit(); err != nil {
		r.refusedRef(ipam.StepClass, class.Ref(), err)
		return err
	}
	if err := missingRoles(*class, r.ask.spec.Scope); err != nil {
		r.refusedRef(ipam.StepClass, class.Ref(), err)
		return err
	}
	r.note(ipam.StepClass, class.Ref(), ipam.OutcomeChosen, why)
	if class.Scoped() {
		return s.resolveScope(ctx, r, key, facts.Pools)
	}
	if len(facts.Pools) == 0 {
		return r.noPoolForClass()
	}
	if err := r.keepFitting(facts.Pools); err != nil {
		return err
	}
	return s.inOrder(ctx, r)
}

// keepFitting leaves the pools that could serve the claim in some state; none: the last one's reason stands for all.
func (r *resolved) keepFitting(pools []ipam.Pool) error {
	var refused error
	for _, p := range pools {
		if _, err := r.ask.wanted(p); err != nil {
			r.skippedPool(p, err)
			r.unfit, refused = append(r.unfit, p), err
			continue
		}
		r.pools = append(r.pools, p)
	}
	if len(r.pools) == 0 {
		return r.unnamed(refused)
	}
	return nil
}

// noClass says that the named class does not exist for the project, or that there is no default one.
func (r *resolved) noClass(key ProjectKey) error {
	if name := r.ask.spec.ClassName; name != "" {
		ref := ipam.Ref{Project: key.Name, Name: name}
		err := classNotFound(ref).At("/spec/className", "names no class of the project and no shared one of %q.", ipam.PlatformProject)
		r.refusedRef(ipam.StepClass, ref, err)
		return err
	}
	family := r.ask.spec.WantedFamily()
	e := ipam.Errorf(ipam.CodeNoDefaultClass,
		"Neither project %q nor %q has a default class for %s; name a class or a pool, or have a default class made.", key.Name, ipam.PlatformProject, family).
		At("/spec", "names no className, poolRef or poolSelector, and there is no default class for %s.", family)
	if r.ask.spec.Family == "" && !r.ask.spec.Exact().IsValid() {
		_ = e.At("/spec/ipFamily", "is not given, which means IPv4.")
	}
	return e
}

// classNotFound says that a class is missing, or none of the project's business: the two cannot be told apart.
func classNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Class %q was not found in project %q.", ref.Name, ref.Project)
}

// noPoolForClass says that nothing stands behind a class for the project.
func (r *resolved) noPoolForClass() error {
	class := r.ask.class
	e := ipam.Errorf(ipam.CodeNoPoolForClass, "No pool backs class %s: none lists it in classNames.", class.Ref())
	e.Figures.Class = class.Ref().String()
	zero := int64(0)
	e.Figures.Pools = &zero
	return e.At("/spec/className", "needs a pool that lists %q in its classNames.", class.Name)
}

// missingRoles refuses a claim that lacks values for the scope of its class, and names all of them.
func missingRoles(class ipam.Class, values map[string]string) error {
	missing := class.MissingRoles(values)
	if len(missing) == 0 {
		return nil
	}
	e := ipam.Errorf(ipam.CodeInvalidArgument, "Class %s has a pool for each %s: scope lacks %s.",
		class.Ref(), strings.Join(class.Spec.PoolPer, ", "), strings.Join(missing, ", "))
	for _, role := range missing {
		_ = e.At("/spec/scope/"+role, "is required by class %s.", class.Ref())
	}
	e.Figures.Class, e.Figures.MissingRoles = class.Ref().String(), missing
	return e
}

// resolveScope: the pool of the claim's scope, or, when there is none yet, those that it can be carved from.
func (s *Service) resolveScope(ctx context.Context, r *resolved, key ProjectKey, backing []ipam.Pool) error {
	values, text := r.ask.class.ScopeKey(r.ask.spec.Scope)
	p, found, err := ignoreNotFound(s.store.ScopedPool(ctx, r.ask.class.UID, key.ID, text))
	if err != nil {
		return err
	}
	if found {
		return r.keepFitting([]ipam.Pool{p})
	}
	if len(backing) == 0 {
		return r.noPoolForClass()
	}
	r.first = &scope{class: *r.ask.class, key: key, values: maps.Clone(values), text: text}
	var refused error
	for _, p := range backing {
		if err := r.first.fits(r.ask, p); err != nil {
			r.skippedPool(p, err)
			refused = err
			continue
		}
		r.pools = append(r.pools, p)
	}
	if len(r.pools) == 0 {
		return r.unnamed(refused)
	}
	return s.inOrder(ctx, r)
}
