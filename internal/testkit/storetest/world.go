package storetest

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// world is the initial state of most tests. It has a project, its space, a root pool of each family, and a claim on the lower half of a /24 in the
// first pool. The free lists are complete, so each address of a container is in exactly one free or held block.
type world struct {
	project        ipam.Project
	key            storage.ProjectKey
	space          ipam.Space
	v4, v6         ipam.Pool
	c4, c6         storage.Container
	claim          ipam.Claim
	held           ipam.Allocation
	kept           ipam.Allocation // retained; only with worldWithKept
	storedResponse storage.StoredResponse
}

func (s *suite) world() world {
	s.Helper()
	var w world
	w.project = s.project("blue")
	w.key = storage.Key(w.project)
	w.space = s.space(w.project, "default")
	w.v4, w.v6 = s.root(w.space, "four", "10.0.0.0/24"), s.root(w.space, "six", "2001:db8::/32")
	w.c4, w.c6 = storage.PoolContainer(w.v4), storage.PoolContainer(w.v6)
	w.claim = s.claim(w.project, w.v4, "first", "10.0.0.0/25")
	w.held = w.claim.Allocation()
	w.storedResponse = s.storedResponse(w.project, "key-1")
	s.write(storage.Changes{ProjectInsert: &w.project, SpaceInsert: []ipam.Space{w.space}})
	s.write(storage.Changes{PoolInsert: []ipam.Pool{w.v4}})
	s.write(storage.Changes{PoolInsert: []ipam.Pool{w.v6}, Free: []storage.FreeChange{
		insert(w.c4, "10.0.0.128/25"), insert(w.c6, "2001:db8::/32"),
	}})
	s.write(storage.Changes{ClaimInsert: []ipam.Claim{w.claim}, StoredResponses: []storage.StoredResponse{w.storedResponse}})
	return w
}

func (s *suite) worldWithKept() world {
	s.Helper()
	w := s.world()
	w.kept = s.held(s.claim(w.project, w.v6, "kept", "2001:db8::/64"))
	w.kept.Phase = ipam.PhaseRetained
	s.write(storage.Changes{AllocationInsert: []ipam.Allocation{w.kept}})
	return w
}

func insert(c storage.Container, blocks ...string) storage.FreeChange {
	f := storage.FreeChange{Container: c}
	for _, b := range blocks {
		f.Insert = append(f.Insert, cidr(b))
	}
	return f
}

func remove(c storage.Container, blocks ...string) storage.FreeChange {
	f := insert(c, blocks...)
	f.Insert, f.Delete = nil, f.Insert
	return f
}

// tryWrite writes changes in their own transaction.
func (s *suite) tryWrite(ch storage.Changes) error {
	return s.Store.InTx(s.ctx, "storetest_write", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error { return tx.Write(ctx, ch) })
}

func (s *suite) write(ch storage.Changes) {
	s.Helper()
	require.NoError(s, s.tryWrite(ch))
}

// reads checks that a read returns this value.
func reads[T any](s *suite, want T) func(got T, err error) {
	return func(got T, err error) {
		s.Helper()
		require.NoError(s, err)
		require.Equal(s, want, got)
	}
}

// changesNothing runs action and checks that it changes no row of any table.
func (s *suite) changesNothing(action func()) {
	s.Helper()
	before := s.Dump(s)
	require.NotEmpty(s, before)
	action()
	require.Equal(s, before, s.Dump(s), "not a row is different")
}

// everyFieldHasAValue checks that each field has a value in one of the samples, because a round trip proves nothing about a zero field. If a domain
// type gets a new field, the check fails until a sample has a value for it. notStored lists the fields that are not stored.
func everyFieldHasAValue[T any](t testing.TB, samples []T, notStored ...string) {
	t.Helper()
	set := map[string]bool{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		set[path] = set[path] || !v.IsZero()
		if v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if v.Kind() == reflect.Struct && strings.HasPrefix(v.Type().PkgPath(), "github.com/carve-ipam/") {
			for i := range v.NumField() {
				if v.Type().Field(i).Tag.Get("json") == "-" {
					continue // belongs to a request, and is never stored
				}
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		}
		if v.Kind() == reflect.Slice && v.Len() > 0 && v.Type().Elem().Kind() == reflect.Struct {
			for i := range v.Len() {
				walk(path+"[]", v.Index(i))
			}
		}
	}
	for _, sample := range samples {
		walk("", reflect.ValueOf(sample))
	}
	for _, path := range notStored {
		_, known := set[path]
		require.True(t, known, "%s is no field", path)
		delete(set, path)
	}
	for path, has := range set {
		require.True(t, has, "no sample has a value in %s", path)
	}
}
