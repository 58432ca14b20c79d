package crdb_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb"
	stored "github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// recorder writes event rows with its own SQL, so that a test can keep the transactions open.
type recorder struct {
	t       *testing.T
	dsn     string
	project storage.ProjectKey
}

func (r recorder) begin() pgx.Tx {
	tx, err := dbtest.Connect(r.t, r.dsn, nil).BeginTx(r.t.Context(), pgx.TxOptions{AccessMode: pgx.ReadWrite})
	require.NoError(r.t, err)
	return tx
}

func (r recorder) record(tx pgx.Tx) ipam.ID {
	now := time.Now().UTC().Truncate(time.Microsecond)
	event := ipam.Event{ID: ipam.NewTimeID(now), ProjectID: r.project.ID, At: now, Kind: "IPClaim", Name: "c", Operation: "createClaim", Outcome: ipam.OutcomeOK}
	for _, row := range stored.PackEvents([]ipam.Event{event}) {
		_, err := tx.Exec(r.t.Context(), "INSERT INTO audit_events (region, project_id, id, count, events) VALUES ($1, $2, $3, $4, $5)",
			region, row.ProjectID, row.ID, row.Count, row.Events)
		require.NoError(r.t, err)
	}
	return event.ID
}

func (r recorder) committed() ipam.ID {
	tx := r.begin()
	id := r.record(tx)
	require.NoError(r.t, tx.Commit(r.t.Context()))
	return id
}

func behind(t *testing.T, s *crdb.Store, project storage.ProjectKey, from storage.FeedPosition, after ipam.ID) (ids []ipam.ID, now storage.FeedPosition) {
	t.Helper()
	page, err := s.FeedRead(t.Context(), project, from, after, 1000)
	require.NoError(t, err)
	for _, row := range page.Rows {
		ids = append(ids, row.ID)
		require.Len(t, row.Events, 1)
	}
	return ids, page.Now.FeedPosition
}

// A transaction gets its number long before it commits. In between, the feed can return transactions with higher numbers. The late transaction must
// not be lost.
func TestFeedContainsLateCommits(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // on CockroachDB, a reader waits for such a transaction
	dsn := dbtest.New(t)
	s, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	r := recorder{t, dsn, storage.ProjectKey{ID: ipam.NewID(), Name: "p"}}
	begin, err := s.RecentFeedState(t.Context())
	require.NoError(t, err)

	late := r.begin()
	first := r.record(late)
	second := r.committed()
	ids, place := behind(t, s, r.project, begin.FeedPosition, ipam.ID{})
	require.Equal(t, []ipam.ID{second}, ids)
	largest := ids[0]
	third := r.committed()
	require.NoError(t, late.Commit(t.Context()))

	ids, after := behind(t, s, r.project, place, ipam.ID{})
	require.Subset(t, ids, []ipam.ID{first, third}, "the place is in the order of commits")

	broken, _ := behind(t, s, r.project, begin.FeedPosition, largest)
	require.NotContains(t, broken, first, "by the largest id that was read, the first event is lost: the test can tell")

	require.Eventually(t, func() bool { // transactions in the databases of other tests count, too
		ids, after = behind(t, s, r.project, after, ipam.ID{})
		return len(ids) == 0
	}, 5*time.Minute, time.Millisecond, "all of them had ended")
}

// The positions of the feed never decrease. A commit after a position appears after that position.
func TestFeedPositionsIncrease(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	s, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	r := recorder{t, dsn, storage.ProjectKey{ID: ipam.NewID(), Name: "p"}}
	begin, err := s.RecentFeedState(t.Context())
	require.NoError(t, err)
	place := begin.FeedPosition
	for range 5 {
		made := r.committed()
		ids, now := behind(t, s, r.project, place, ipam.ID{})
		require.Contains(t, ids, made)
		require.False(t, storage.CommitBefore(now.Commit, place.Commit))
		place = now
	}
	other := storage.ProjectKey{ID: ipam.NewID(), Name: "q"}
	ids, _ := behind(t, s, other, begin.FeedPosition, ipam.ID{})
	require.Empty(t, ids)
}

// A long feed is read in several pages.
func TestLongFeedIsReadInParts(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	s, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	r := recorder{t, dsn, storage.ProjectKey{ID: ipam.NewID(), Name: "p"}}
	begin, err := s.RecentFeedState(t.Context())
	require.NoError(t, err)
	var made []ipam.ID
	for range 5 {
		made = append(made, r.committed())
	}
	var read []ipam.ID
	for after := (ipam.ID{}); ; {
		page, err := s.FeedRead(t.Context(), r.project, begin.FeedPosition, after, 2)
		require.NoError(t, err)
		for _, row := range page.Rows {
			read = append(read, row.ID)
			require.Positive(t, bytes.Compare(row.ID[:], after[:]))
			after = row.ID
		}
		if !page.More {
			break
		}
	}
	require.ElementsMatch(t, made, read)
}

func TestRetentionReportsTheStartOfTheCompleteTrail(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	s, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	before, err := s.RecentFeedState(t.Context())
	require.NoError(t, err)
	require.True(t, before.KeptFrom.Before(before.Since))
	cut := s.Now().Add(time.Minute).Truncate(time.Microsecond)
	_, err = s.ExpireEvents(t.Context(), cut, 100)
	require.NoError(t, err)
	page, err := s.FeedRead(t.Context(), storage.ProjectKey{ID: ipam.NewID()}, before.FeedPosition, ipam.ID{}, 1)
	require.NoError(t, err)
	require.WithinDuration(t, cut, page.Now.KeptFrom, 0)
	_, err = s.ExpireEvents(t.Context(), cut.Add(-time.Hour), 100)
	require.NoError(t, err)
	page, err = s.FeedRead(t.Context(), storage.ProjectKey{ID: ipam.NewID()}, before.FeedPosition, ipam.ID{}, 1)
	require.NoError(t, err)
	require.WithinDuration(t, cut, page.Now.KeptFrom, 0, "it never goes back")
}

func TestRestoreInvalidatesFeedCursors(t *testing.T) {
	t.Parallel()
	dsn, secrets := dbtest.New(t), map[string]bool{}
	for range 2 {
		s, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: region})
		require.NoError(t, err)
		m, err := s.RecentFeedState(context.WithoutCancel(t.Context()))
		require.NoError(t, err)
		secrets[m.Secret] = true
		s.Close()
		_, err = crdb.RenewEpochs(t.Context(), dsn)
		require.NoError(t, err)
	}
	require.Len(t, secrets, 2)
}
