package resolve

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Resolved describes how to serve a claim: its request, and the pools to try, in this order.
type Resolved struct {
	Ask   Request
	Pools []ipam.Pool
	Unfit []ipam.Pool // the considered pools that can never serve the claim
	First *scope      // set if the scope has no pool yet; Pools then contains the possible parent pools
	decision
}

// ClassQuery returns the query for a claim's class. If the claim uses no class, it returns nil.
func ClassQuery(spec ipam.ClaimSpec) *storage.ClassQuery {
	if !spec.ByClass() {
		return nil
	}
	return &storage.ClassQuery{Name: spec.ClassName, Family: spec.WantedFamily()}
}

// Resolve finds the pools that may serve one claim, by class, poolRef or selector. Single claims, batches and explanations all use it, so that they
// decide in the same way. facts is the result from a ClaimQuery for the spec's pool and class. Even with an error, the result contains the steps so
// far.
func (s *Resolver) Resolve(ctx context.Context, key storage.ProjectKey, spec ipam.ClaimSpec, facts storage.ClaimFacts, find finder) (Resolved, error) {
	r := Resolved{Ask: Request{Spec: spec}, decision: decision{viewer: key, exact: spec.Exact().IsValid()}}
	var err error
	switch {
	case spec.AllocationRef != "": // the allocation already has a block
	case spec.ByClass():
		err = s.resolveClass(ctx, &r, key, facts.Class)
	case spec.PoolSelector != nil:
		err = r.resolveSelector(ctx, key, find)
	default:
		err = r.resolvePool(key, facts)
	}
	r.Pools = s.regions.PreferLocal(r.Pools)
	return r, err
}

// resolvePool resolves a claim that names its pool.
func (r *Resolved) resolvePool(key storage.ProjectKey, facts storage.ClaimFacts) error {
	p := facts.Pool
	if p == nil || !r.Ask.MayDraw(key, *p, facts.Granted) {
		err := storage.PoolNotFound(r.Ask.Spec.PoolRef)
		if p != nil && p.Scope != nil && p.ProjectID == key.ID {
			err = ipam.Invalid("/spec/poolRef/name", "names a pool that serves only claims of class %s in project %q; set className instead.", p.Scope.Class.Ref, p.Scope.Project)
		}
		r.refusedRef(ipam.StepPool, r.Ask.Spec.PoolRef, err)
		return err
	}
	if p.ProjectID != key.ID {
		r.Note(ipam.StepGrant, p.Ref(), ipam.OutcomeAllowed, "The pool is shared with the project by a grant.")
	}
	return r.keepFitting([]ipam.Pool{*p})
}

// finder returns the pools that a selector matches and that the project may use.
type finder func(ctx context.Context, key storage.ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error)

// resolveSelector finds all pools that match a claim's selector and that the project may use.
func (r *Resolved) resolveSelector(ctx context.Context, key storage.ProjectKey, find finder) error {
	found, err := find(ctx, key, r.Ask.Spec.PoolSelector)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(p ipam.Pool) bool { return p.Scope != nil })
	if len(found) == 0 {
		return noPoolMatches(key)
	}
	return r.keepFitting(found)
}

// resolveClass finds a claim's named class or default class, and the class's pools.
func (s *Resolver) resolveClass(ctx context.Context, r *Resolved, key storage.ProjectKey, facts storage.ClassFacts) error {
	class := facts.Found
	if class == nil {
		return r.noClass(key)
	}
	r.Ask.Class = class
	reason := "The claim names it."
	if r.Ask.Spec.ClassName == "" {
		reason = fmt.Sprintf("It is the default class for %s of project %q; the claim names none.", class.Spec.Family, class.Project)
	}
	if err := r.Ask.admit(); err != nil {
		r.refusedRef(ipam.StepClass, class.Ref(), err)
		return err
	}
	if err := missingRoles(*class, r.Ask.Spec.Scope); err != nil {
		r.refusedRef(ipam.StepClass, class.Ref(), err)
		return err
	}
	r.Note(ipam.StepClass, class.Ref(), ipam.OutcomeChosen, reason)
	if class.Scoped() {
		return s.resolveScope(ctx, r, key, facts.Pools)
	}
	if len(facts.Pools) == 0 {
		return r.noPoolForClass()
	}
	if err := r.keepFitting(facts.Pools); err != nil {
		return err
	}
	return s.sortPools(ctx, r)
}

// keepFitting keeps the pools that could serve the claim if they had room. If there is none, it returns the last pool's reason.
func (r *Resolved) keepFitting(pools []ipam.Pool) error {
	var refused error
	for _, p := range pools {
		if _, err := r.Ask.BlockSpec(p); err != nil {
			r.SkippedPool(p, err)
			r.Unfit, refused = append(r.Unfit, p), err
			continue
		}
		r.Pools = append(r.Pools, p)
	}
	if len(r.Pools) == 0 {
		return r.Unnamed(refused)
	}
	return nil
}

func (r *Resolved) noClass(key storage.ProjectKey) error {
	if name := r.Ask.Spec.ClassName; name != "" {
		ref := ipam.Ref{Project: key.Name, Name: name}
		err := storage.ClassNotFound(ref).At("/spec/className", "names neither a class of the project nor a shared class of %q.", ipam.PlatformProject)
		r.refusedRef(ipam.StepClass, ref, err)
		return err
	}
	family := r.Ask.Spec.WantedFamily()
	e := ipam.Errorf(ipam.CodeNoDefaultClass,
		"Neither project %q nor %q has a default class for %s; name a class or a pool, or create a default class.", key.Name, ipam.PlatformProject, family).
		At("/spec", "has no className, poolRef or poolSelector, and no default class exists for %s.", family)
	if r.Ask.Spec.Family == "" && !r.Ask.Spec.Exact().IsValid() {
		_ = e.At("/spec/ipFamily", "is not set; the default is IPv4.")
	}
	return e
}

// noPoolForClass returns the refusal if the project may use no pool that lists the class.
func (r *Resolved) noPoolForClass() error {
	class := r.Ask.Class
	e := ipam.Errorf(ipam.CodeNoPoolForClass, "No pool backs class %s: none lists it in classNames.", class.Ref())
	e.Figures.Class = class.Ref().String()
	zero := int64(0)
	e.Figures.Pools = &zero
	return e.At("/spec/className", "needs a pool that lists %q in its classNames.", class.Name)
}

// missingRoles refuses a claim that lacks values for its class's scope. The refusal names all missing roles.
func missingRoles(class ipam.Class, values map[string]string) error {
	missing := class.MissingRoles(values)
	if len(missing) == 0 {
		return nil
	}
	e := ipam.Errorf(ipam.CodeInvalidArgument, "The scope of the claim lacks %s. Class %s has a pool for each combination of %s; add the missing roles to /spec/scope.",
		strings.Join(missing, ", "), class.Ref(), strings.Join(class.Spec.PoolPer, ", "))
	for _, role := range missing {
		_ = e.At("/spec/scope/"+role, "is required by class %s.", class.Ref())
	}
	e.Figures.Class, e.Figures.MissingRoles = class.Ref().String(), missing
	return e
}

// ResolveScope finds a scope's pool, or the possible parent pools, like Resolve does for a claim in the scope.
func (s *Resolver) ResolveScope(ctx context.Context, key storage.ProjectKey, class ipam.Class, values map[string]string, backing []ipam.Pool) (Resolved, error) {
	r := Resolved{Ask: Request{Spec: ipam.ClaimSpec{ClassName: class.Name, Scope: values}, Class: &class, PoolAlone: true}, decision: decision{viewer: key}}
	if !class.Scoped() {
		return r, ipam.Invalid("path:className", "has no pools for scopes: class %s has no poolPer.", class.Ref())
	}
	if missing := class.MissingRoles(values); len(missing) > 0 {
		e := ipam.Invalid("path:scope", "lacks %s, which class %s requires.", strings.Join(missing, ", "), class.Ref())
		e.Figures.Class, e.Figures.MissingRoles = class.Ref().String(), missing
		return r, e
	}
	r.Note(ipam.StepClass, class.Ref(), ipam.OutcomeChosen, "The request names it.")
	err := s.resolveScope(ctx, &r, key, backing)
	r.Pools = s.regions.PreferLocal(r.Pools)
	return r, err
}

// resolveScope finds the pool for the claim's scope. If the scope has no pool yet, it finds the possible parent pools.
func (s *Resolver) resolveScope(ctx context.Context, r *Resolved, key storage.ProjectKey, backing []ipam.Pool) error {
	values, text := r.Ask.Class.ScopeKey(r.Ask.Spec.Scope)
	p, found, err := storage.IgnoreNotFound(s.Store.ScopedPool(ctx, r.Ask.Class.UID, key.ID, text))
	if err != nil {
		return err
	}
	if found && r.Ask.PoolAlone {
		r.Pools = []ipam.Pool{p}
		return nil
	}
	if found {
		return r.keepFitting([]ipam.Pool{p})
	}
	if len(backing) == 0 {
		return r.noPoolForClass()
	}
	r.First = &scope{Class: *r.Ask.Class, key: key, values: maps.Clone(values), Text: text}
	var refused error
	for _, p := range backing {
		if err := r.First.Fits(r.Ask, p); err != nil {
			r.SkippedPool(p, err)
			refused = err
			continue
		}
		r.Pools = append(r.Pools, p)
	}
	if len(r.Pools) == 0 {
		return r.Unnamed(refused)
	}
	return s.sortPools(ctx, r)
}
