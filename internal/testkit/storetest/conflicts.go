package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// conflicts contains the tests of writes whose names, keys or claims contradict the stored rows.
var conflicts = map[string]func(*suite){
	"NamesExactlyTheExistingClaims": func(s *suite) {
		w := s.world()
		b := s.claim(w.project, w.v4, "b", "10.0.0.128/32")
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{b}})
		again := s.claim(w.project, w.v4, "first", "10.0.0.129/32")
		fresh := s.claim(w.project, w.v4, "fresh", "10.0.0.130/32")
		b.UID, b.AllocationID = ipam.NewID(), ipam.NewID()
		s.conflict(storage.Changes{
			Free:        []storage.FreeChange{remove(w.c4, "10.0.0.128/25")},
			ClaimInsert: []ipam.Claim{fresh, again, b},
		}, storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: "first"}, {ProjectID: w.project.UID, Name: "b"}}})
	},
	"SameNameInAnotherProjectIsNoConflict": func(s *suite) {
		w := s.world()
		other := s.project("red")
		s.write(storage.Changes{ProjectInsert: &other})
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{s.claim(other, w.v4, "first", "10.0.0.128/32")}})
	},
	"NamesExactlyTheChangedClaims": func(s *suite) {
		w := s.world()
		b := s.claim(w.project, w.v4, "b", "10.0.0.128/32")
		s.write(storage.Changes{ClaimInsert: []ipam.Claim{b}})
		changedSince, gone := w.claim, s.claim(w.project, w.v4, "gone", "10.0.0.129/32")
		changedSince.Revision = ipam.NewID()
		s.conflict(storage.Changes{ClaimDelete: []ipam.Claim{changedSince, b, gone}}, storage.Conflict{
			ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: "first"}, {ProjectID: w.project.UID, Name: "gone"}},
		})
	},
	"NamesExactlyTheUsedKeys": func(s *suite) {
		w := s.world()
		expired := s.storedResponse(w.project, "old")
		expired.ExpiresAt = born
		s.write(storage.Changes{StoredResponses: []storage.StoredResponse{expired}})
		s.conflict(storage.Changes{
			StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "new"), s.storedResponse(w.project, "key-1"), s.storedResponse(w.project, "old")},
		}, storage.Conflict{IdempotencyKeys: []storage.NameRef{{ProjectID: w.project.UID, Name: "key-1"}}})
	},
	// The Conflict lists the idempotency keys that are in use. The caller can then repeat the write without the requests of these keys.
	"NamesUsedKeysBeforeClaims": func(s *suite) {
		w := s.world()
		claims := []ipam.Claim{s.claim(w.project, w.v4, "first", "10.0.0.129/32")}
		s.conflict(storage.Changes{ClaimInsert: claims, StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "key-1"), s.storedResponse(w.project, "key-2")}},
			storage.Conflict{IdempotencyKeys: []storage.NameRef{{ProjectID: w.project.UID, Name: "key-1"}}})
		s.conflict(storage.Changes{ClaimInsert: claims, StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "key-2")}},
			storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: "first"}}})
	},
	// Two requests of one group may use the same name. The Conflict prevents both from being reported as created.
	"DuplicateNameInOneWriteIsAConflict": func(s *suite) {
		w := s.world()
		a, b := s.claim(w.project, w.v4, "twin", "10.0.0.128/32"), s.claim(w.project, w.v4, "twin", "10.0.0.129/32")
		s.conflict(storage.Changes{ClaimInsert: []ipam.Claim{a, b}},
			storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: "twin"}}})
	},
	// The released block stays held, without a claim.
	"NamesExactlyTheChangedReleasedClaims": func(s *suite) {
		w := s.world()
		gone := s.claim(w.project, w.v4, "gone", "10.0.0.129/32")
		changedSince := w.claim
		changedSince.Revision = ipam.NewID()
		for name, c := range map[string]ipam.Claim{"gone": gone, "first": changedSince} {
			left := c.Allocation()
			left.Phase, left.Revision = ipam.PhaseRetained, ipam.NewID()
			s.conflict(storage.Changes{ClaimRelease: []storage.Release{{Claim: c, Now: left}}},
				storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: name}}})
		}
	},
	"RetainedBlockIsBoundUnderAFreeName": func(s *suite) {
		w := s.world()
		left := s.held(s.claim(w.project, w.v4, "gone", "10.0.0.129/32"))
		left.Phase = ipam.PhaseRetained
		s.write(storage.Changes{AllocationInsert: []ipam.Allocation{left}})
		again := s.claim(w.project, w.v4, "first", "10.0.0.129/32")
		again.AllocationID = left.ID
		s.conflict(storage.Changes{ClaimRebind: &storage.ClaimUpdate{Was: left.Revision, Now: again}},
			storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: "first"}}})
		again.Name, again.Allocated = "second", ipam.Allocated{CreatedAt: left.CreatedAt, CreatedBy: left.CreatedBy}
		s.write(storage.Changes{ClaimRebind: &storage.ClaimUpdate{Was: left.Revision, Now: again}})
		got, err := s.Store.ClaimGet(s.ctx, w.key, "second")
		require.NoError(s, err)
		require.Equal(s, again, got)
		held, err := s.Store.AllocationGet(s.ctx, w.key, left.ID)
		require.NoError(s, err)
		require.Equal(s, again.Allocation(), held)
	},
	"ClaimReleasedTwiceInOneWriteIsAConflict": func(s *suite) {
		w := s.world()
		s.conflict(storage.Changes{ClaimDelete: []ipam.Claim{w.claim, w.claim}},
			storage.Conflict{ClaimRefs: []storage.NameRef{{ProjectID: w.project.UID, Name: "first"}}})
	},
	// A retry must receive the error that its key is in use, even if the first attempt has also taken its name or block.
	"UsedKeyPrecedesATakenName": func(s *suite) {
		w := s.world()
		key := storage.Conflict{IdempotencyKeys: []storage.NameRef{{ProjectID: w.project.UID, Name: "key-1"}}}
		again := s.root(w.space, "four", "10.7.0.0/24")
		s.conflict(storage.Changes{PoolInsert: []ipam.Pool{again}, StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "key-1")}}, key)
		sp := s.space(w.project, "default")
		s.conflict(storage.Changes{SpaceInsert: []ipam.Space{sp}, StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "key-1")}}, key)
		s.conflict(storage.Changes{Free: []storage.FreeChange{remove(w.c4, "10.0.0.0/25")}, StoredResponses: []storage.StoredResponse{s.storedResponse(w.project, "key-1")}}, key)
	},
	"NamesOfProjectsSpacesAndPoolsAreUnique": func(s *suite) {
		w := s.world()
		p, sp, pool := s.project("blue"), s.space(w.project, "default"), s.root(w.space, "four", "10.7.0.0/24")
		for _, ch := range []storage.Changes{{ProjectInsert: &p}, {SpaceInsert: []ipam.Space{sp}}, {PoolInsert: []ipam.Pool{pool}}} {
			s.changesNothing(func() {
				err := s.tryWrite(ch)
				require.True(s, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
				require.Equal(s, "/metadata/name", pointer(s, err))
			})
		}
	},
	"DanglingReferenceIsNotFound": func(s *suite) {
		w := s.world()
		nowhere := s.project("nowhere")
		sp := s.space(nowhere, "default")
		pool := s.root(s.space(w.project, "nowhere"), "lost", "10.7.0.0/24")
		orphan := s.root(w.space, "orphan", "10.7.0.0/24")
		orphan.ProjectID = nowhere.UID
		for _, ch := range []storage.Changes{{SpaceInsert: []ipam.Space{sp}}, {PoolInsert: []ipam.Pool{pool}}, {PoolInsert: []ipam.Pool{orphan}}} {
			s.changesNothing(func() {
				err := s.tryWrite(ch)
				require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
			})
		}
	},
	"ExpiredResponseFreesItsKey": func(s *suite) {
		w := s.world()
		next := w.storedResponse
		next.CreatedAt = w.storedResponse.ExpiresAt.Add(time.Hour)
		next.ExpiresAt = next.CreatedAt.Add(time.Hour)
		s.write(storage.Changes{StoredResponses: []storage.StoredResponse{next}})
	},
}

// conflict checks that a write of the changes fails, names exactly these rows, and stores nothing.
func (s *suite) conflict(ch storage.Changes, want storage.Conflict) {
	s.Helper()
	s.changesNothing(func() {
		var got *storage.Conflict
		require.ErrorAs(s, s.tryWrite(ch), &got)
		require.ElementsMatch(s, want.ClaimRefs, unique(got.ClaimRefs))
		require.ElementsMatch(s, want.IdempotencyKeys, unique(got.IdempotencyKeys))
	})
}
