package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The functions below make classes for tests. Options set the fields that differ from the defaults.

type classOption func(*ipam.ClassSpec)

// class returns an IPv4 class with the given options.
func class(name string, options ...classOption) ipam.Class {
	c := ipam.Class{Metadata: meta(name), Spec: ipam.ClassSpec{Family: ipam.IPv4}}
	for _, o := range options {
		o(&c.Spec)
	}
	c.Spec = c.Spec.WithDefaults()
	return c
}

func forFamily(f ipam.Family) classOption { return func(s *ipam.ClassSpec) { s.Family = f } }

// lengths sets the prefix lengths that a class accepts, and the default length of its claims.
func lengths(lo, hi, standard int) classOption {
	return func(s *ipam.ClassSpec) {
		s.MinPrefixLength, s.MaxPrefixLength, s.DefaultPrefixLength = &lo, &hi, &standard
	}
}

func sharedClass(s *ipam.ClassSpec)  { s.Visibility = ipam.VisibilityShared }
func defaultClass(s *ipam.ClassSpec) { s.IsDefault = true }

func reclaiming(r ipam.ReclaimPolicy) classOption {
	return func(s *ipam.ClassSpec) { s.ReclaimPolicy = r }
}
func carving(st ipam.Strategy) classOption { return func(s *ipam.ClassSpec) { s.Strategy = st } }
func leastUtilized(s *ipam.ClassSpec)      { s.PoolSelection = ipam.PoolsLeastUtilized }
func cooling(d time.Duration) classOption  { return func(s *ipam.ClassSpec) { s.ReuseAfter = &d } }

// poolPer makes a class scoped. Each project and each combination of values for the roles gets its own pool, with the prefix length bits.
func poolPer(bits int, roles ...string) classOption {
	return func(s *ipam.ClassSpec) {
		s.PoolPer, s.PoolPrefixLength = append([]string{ipam.ScopeProject}, roles...), &bits
	}
}

// backing sets the classes that a pool backs.
func backing(classes ...string) poolOption {
	return func(p *ipam.Pool) { p.Spec.ClassNames = classes }
}

// byClass returns a claim by a class. "" means the default class.
func byClass(name, class string, options ...claimOption) ipam.Claim {
	return claimOf(name, "", append([]claimOption{func(c *ipam.Claim) {
		c.Spec.PoolRef, c.Spec.ClassName, c.Spec.ReclaimPolicy = ipam.Ref{}, class, ""
	}}, options...)...)
}

func inScope(pairs ...string) claimOption {
	return func(c *ipam.Claim) { c.Spec.Scope = labels(pairs...) }
}

// class creates a class in a project.
func (b *bundle) class(t testing.TB, in string, c ipam.Class) ipam.Class {
	t.Helper()
	r, err := b.CreateClass(b.ctx, in, c, false, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

// poolIn creates a pool in a project.
func (b *bundle) poolIn(t testing.TB, in string, p ipam.Pool) ipam.Pool {
	t.Helper()
	r, err := b.CreatePool(b.ctx, in, p, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}
