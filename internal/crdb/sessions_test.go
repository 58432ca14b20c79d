package crdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestSessionsRoundTrip(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, s := range map[string]ipam.Session{
		"OfAKey": {Hash: []byte{1}, Holder: "key:1", KeyID: ipam.ID{7}, CreatedAt: at, UsedAt: at, ExpiresAt: at.Add(time.Hour)},
		"OfAnIssuer": {
			Hash: []byte{2}, Holder: "corp:alice", Issuer: "https://corp.example", Rules: ipam.ID{8}, Roles: map[string]string{"a": "admin"},
			CreatedAt: at, UsedAt: at, ExpiresAt: at.Add(time.Hour),
		},
	} {
		require.NoError(t, h.store.SessionBegin(admin(t), s, 32), name)
		found, ok, err := h.store.SessionByHash(admin(t), s.Hash)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, s, found)
		require.NoError(t, h.store.SessionsUsed(admin(t), map[string]time.Time{string(s.Hash): at.Add(time.Minute), "gone": at}))
		require.NoError(t, h.store.SessionsUsed(admin(t), map[string]time.Time{string(s.Hash): at}))
		found, _, err = h.store.SessionByHash(admin(t), s.Hash)
		require.NoError(t, err)
		require.Equal(t, at.Add(time.Minute), found.UsedAt, "never backwards")
		for range 2 {
			require.NoError(t, h.store.SessionEnd(admin(t), s.Hash))
		}
		_, ok, err = h.store.SessionByHash(admin(t), s.Hash)
		require.NoError(t, err)
		require.False(t, ok)
	}
}

func TestSessionsOfAHolderAreLimitedAndExpireInBatches(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	begin := func(n byte, holder string) {
		began := at.Add(time.Duration(n) * time.Minute)
		require.NoError(t, h.store.SessionBegin(admin(t), ipam.Session{Hash: []byte{n}, Holder: holder, CreatedAt: began, UsedAt: began, ExpiresAt: began.Add(time.Hour)}, 3))
	}
	begin(0, "other")
	for n := range byte(5) {
		begin(n+1, "one")
	}
	for n, there := range []bool{true, false, false, true, true, true} {
		_, ok, err := h.store.SessionByHash(admin(t), []byte{byte(n)})
		require.NoError(t, err)
		require.Equal(t, there, ok, n)
	}
	for _, want := range []int64{2, 1, 0} { // a session that expires exactly at this moment is included
		n, err := h.store.ExpireSessions(admin(t), at.Add(time.Hour+4*time.Minute), 2)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
}
