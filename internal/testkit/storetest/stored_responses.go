package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// stored returns a stored response as a read returns it. It has no project and no key, because the reader knows them.
func stored(a storage.StoredResponse) storage.StoredResponse {
	a.ProjectID, a.Key, a.CreatedAt = ipam.ID{}, "", time.Time{}
	return a
}

var storedResponses = map[string]func(*suite){
	"AllFieldsRoundTrip": func(s *suite) {
		w := s.world()
		everyFieldHasAValue(s, []storage.StoredResponse{w.storedResponse})
		got, ok, err := s.Store.StoredResponseGet(s.ctx, w.project.UID, "key-1", born)
		require.NoError(s, err)
		require.True(s, ok)
		require.Equal(s, stored(w.storedResponse), got)
	},
	"KeyBelongsToItsProject": func(s *suite) {
		w := s.world()
		_, ok, err := s.Store.StoredResponseGet(s.ctx, ipam.NewID(), "key-1", born)
		require.NoError(s, err)
		require.False(s, ok)
		other := s.storedResponse(w.project, "key-1")
		other.ProjectID = ipam.ID{} // POST /projects stores its responses without a project
		s.write(storage.Changes{StoredResponses: []storage.StoredResponse{other}})
		got, ok, err := s.Store.StoredResponseGet(s.ctx, ipam.ID{}, "key-1", born)
		require.NoError(s, err)
		require.True(s, ok)
		require.Equal(s, stored(other), got)
	},
	"ResponseLastsUntilItExpires": func(s *suite) {
		w := s.world()
		for now, want := range map[time.Time]bool{
			w.storedResponse.ExpiresAt.Add(-time.Microsecond): true, w.storedResponse.ExpiresAt: false, w.storedResponse.ExpiresAt.Add(time.Hour): false,
		} {
			_, ok, err := s.Store.StoredResponseGet(s.ctx, w.project.UID, "key-1", now)
			require.NoError(s, err)
			require.Equal(s, want, ok, "%v", now)
		}
	},
	"ExpiredResponseIsReplaced": func(s *suite) {
		w := s.world()
		next := w.storedResponse
		next.CreatedAt, next.ExpiresAt = w.storedResponse.ExpiresAt, w.storedResponse.ExpiresAt.Add(time.Hour)
		next.Fingerprint, next.Body = [16]byte{9}, []byte("another")
		s.write(storage.Changes{StoredResponses: []storage.StoredResponse{next}})
		got, ok, err := s.Store.StoredResponseGet(s.ctx, w.project.UID, "key-1", next.CreatedAt)
		require.NoError(s, err)
		require.True(s, ok)
		require.Equal(s, stored(next), got)
	},
	"LiveResponseIsNotReplaced": func(s *suite) {
		w := s.world()
		next := w.storedResponse
		next.CreatedAt = w.storedResponse.ExpiresAt.Add(-time.Microsecond)
		next.Body = []byte("another")
		s.changesNothing(func() {
			var conflict *storage.Conflict
			require.ErrorAs(s, s.tryWrite(storage.Changes{StoredResponses: []storage.StoredResponse{next}}), &conflict)
			require.Equal(s, &storage.Conflict{IdempotencyKeys: []storage.NameRef{{ProjectID: w.project.UID, Name: "key-1"}}}, conflict)
		})
	},
}
