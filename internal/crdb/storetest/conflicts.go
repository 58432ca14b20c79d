package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

// conflicts are about names, keys and claims that are not as a request had them.
var conflicts = map[string]func(*suite){
	"NamesExactlyTheClaimsThatExist": func(s *suite) {
		w := s.world()
		b := s.claim(w.project, w.v4, "b", "10.0.0.128/32")
		s.write(alloc.Changes{ClaimInsert: []ipam.Claim{b}})
		again := s.claim(w.project, w.v4, "first", "10.0.0.129/32")
		fresh := s.claim(w.project, w.v4, "fresh", "10.0.0.130/32")
		b.UID, b.AllocationID = ipam.NewID(), ipam.NewID()
		s.conflict(alloc.Changes{
			Free:        []alloc.FreeChange{remove(w.c4, "10.0.0.128/25")},
			ClaimInsert: []ipam.Claim{fresh, again, b}, AllocationInsert: []ipam.Allocation{s.held(fresh), s.held(again), s.held(b)},
		}, alloc.Conflict{ClaimRefs: []alloc.NameRef{{ProjectID: w.project.UID, Name: "first"}, {ProjectID: w.project.UID, Name: "b"}}})
	},
	"TheSameNameInAnotherProjectIsNone": func(s *suite) {
		w := s.world()
		other := s.project("red")
		s.write(alloc.Changes{ProjectInsert: &other})
		s.write(alloc.Changes{ClaimInsert: []ipam.Claim{s.claim(other, w.v4, "first", "10.0.0.128/32")}})
	},
	"NamesExactlyTheClaimsThatAreNotAsRead": func(s *suite) {
		w := s.world()
		b := s.claim(w.project, w.v4, "b", "10.0.0.128/32")
		s.write(alloc.Changes{ClaimInsert: []ipam.Claim{b}})
		changedSince, gone := w.claim, s.claim(w.project, w.v4, "gone", "10.0.0.129/32")
		changedSince.Revision = ipam.NewID()
		s.conflict(alloc.Changes{ClaimDelete: []ipam.Claim{changedSince, b, gone}}, alloc.Conflict{
			ClaimRefs: []alloc.NameRef{{ProjectID: w.project.UID, Name: "first"}, {ProjectID: w.project.UID, Name: "gone"}},
		})
	},
	"NamesExactlyTheKeysThatAreInUse": func(s *suite) {
		w := s.world()
		expired := s.answer(w.project, "old")
		expired.ExpiresAt = born
		s.write(alloc.Changes{Answers: []alloc.Answer{expired}})
		s.conflict(alloc.Changes{
			Answers: []alloc.Answer{s.answer(w.project, "new"), s.answer(w.project, "key-1"), s.answer(w.project, "old")},
		}, alloc.Conflict{AnswerKeys: []alloc.NameRef{{ProjectID: w.project.UID, Name: "key-1"}}})
	},
	"NamesClaimsAndKeysTogether": func(s *suite) {
		w := s.world()
		s.conflict(alloc.Changes{
			ClaimInsert: []ipam.Claim{s.claim(w.project, w.v4, "first", "10.0.0.129/32")}, Answers: []alloc.Answer{s.answer(w.project, "key-1")},
		}, alloc.Conflict{
			ClaimRefs:  []alloc.NameRef{{ProjectID: w.project.UID, Name: "first"}},
			AnswerKeys: []alloc.NameRef{{ProjectID: w.project.UID, Name: "key-1"}},
		})
	},
	// Two requests of one group may ask for the same thing. One row is written; two must not be reported.
	"ANameTwiceInOneWriteIsAConflict": func(s *suite) {
		w := s.world()
		a, b := s.claim(w.project, w.v4, "twin", "10.0.0.128/32"), s.claim(w.project, w.v4, "twin", "10.0.0.129/32")
		s.conflict(alloc.Changes{ClaimInsert: []ipam.Claim{a, b}, AllocationInsert: []ipam.Allocation{s.held(a), s.held(b)}},
			alloc.Conflict{ClaimRefs: []alloc.NameRef{{ProjectID: w.project.UID, Name: "twin"}}})
	},
	"AClaimGivenUpTwiceInOneWriteIsAConflict": func(s *suite) {
		w := s.world()
		s.conflict(alloc.Changes{ClaimDelete: []ipam.Claim{w.claim, w.claim}},
			alloc.Conflict{ClaimRefs: []alloc.NameRef{{ProjectID: w.project.UID, Name: "first"}}})
	},
	// A repeat must learn that it is one, also when it meets the name that it took the first time, or a place that is held now.
	"AKeyInUseIsToldBeforeANameThatIsTaken": func(s *suite) {
		w := s.world()
		key := alloc.Conflict{AnswerKeys: []alloc.NameRef{{ProjectID: w.project.UID, Name: "key-1"}}}
		again := s.root(w.space, "four", "10.7.0.0/24")
		s.conflict(alloc.Changes{PoolInsert: []ipam.Pool{again}, Answers: []alloc.Answer{s.answer(w.project, "key-1")}}, key)
		sp := s.space(w.project, "default")
		s.conflict(alloc.Changes{SpaceInsert: []ipam.Space{sp}, Answers: []alloc.Answer{s.answer(w.project, "key-1")}}, key)
		s.conflict(alloc.Changes{Free: []alloc.FreeChange{remove(w.c4, "10.0.0.0/25")}, Answers: []alloc.Answer{s.answer(w.project, "key-1")}}, key)
	},
	"NamesOfProjectsSpacesAndPoolsAreTakenOnce": func(s *suite) {
		w := s.world()
		p, sp, pool := s.project("blue"), s.space(w.project, "default"), s.root(w.space, "four", "10.7.0.0/24")
		for _, ch := range []alloc.Changes{{ProjectInsert: &p}, {SpaceInsert: []ipam.Space{sp}}, {PoolInsert: []ipam.Pool{pool}}} {
			s.unchanged(func() {
				err := s.try(ch)
				require.True(s, ipam.IsCode(err, ipam.CodeAlreadyExists), "%v", err)
				require.Equal(s, "/metadata/name", pointer(s, err))
			})
		}
	},
	"WhatRefersToNothingIsNotFound": func(s *suite) {
		w := s.world()
		nowhere := s.project("nowhere")
		sp := s.space(nowhere, "default")
		pool := s.root(s.space(w.project, "nowhere"), "lost", "10.7.0.0/24")
		orphan := s.root(w.space, "orphan", "10.7.0.0/24")
		orphan.ProjectID = nowhere.UID
		for _, ch := range []alloc.Changes{{SpaceInsert: []ipam.Space{sp}}, {PoolInsert: []ipam.Pool{pool}}, {PoolInsert: []ipam.Pool{orphan}}} {
			s.unchanged(func() {
				err := s.try(ch)
				require.True(s, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
			})
		}
	},
	"AnAnswerExpiredByNowGivesItsKeyBack": func(s *suite) {
		w := s.world()
		next := w.answer
		next.CreatedAt = w.answer.ExpiresAt.Add(time.Hour)
		next.ExpiresAt = next.CreatedAt.Add(time.Hour)
		s.write(alloc.Changes{Answers: []alloc.Answer{next}})
	},
}

// conflict demands that the changes are refused, naming exactly these rows, and that nothing of them is stored.
func (s *suite) conflict(ch alloc.Changes, want alloc.Conflict) {
	s.Helper()
	s.unchanged(func() {
		var got *alloc.Conflict
		require.ErrorAs(s, s.try(ch), &got)
		require.ElementsMatch(s, want.ClaimRefs, unique(got.ClaimRefs))
		require.ElementsMatch(s, want.AnswerKeys, unique(got.AnswerKeys))
	})
}
