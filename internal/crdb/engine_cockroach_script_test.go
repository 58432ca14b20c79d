package crdb

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgscript"
)

// Names of the statements that cockroach-go sends for a transaction with one statement.
const (
	saidBegin     = beginStatement
	saidSavepoint = "SAVEPOINT cockroach_restart"
	saidWork      = "work"
	saidRelease   = "RELEASE SAVEPOINT cockroach_restart"
	saidBack      = "ROLLBACK TO SAVEPOINT cockroach_restart"
	saidCommit    = "commit"
	saidRollback  = "rollback"
)

// workSQL is the one statement of these transactions. It is not a statement of the store, because the store's statements may change.
const workSQL = "INSERT INTO work (id) VALUES ($1)"

// fault is a scripted reply to the nth occurrence of a statement. If nth is 0, it is the reply to every occurrence.
type fault struct {
	at    string
	nth   int
	reply pgscript.Reply
}

func scripted(t *testing.T, faults ...fault) (*Store, *attempts, *pgscript.Server) {
	t.Helper()
	server, err := pgscript.Start(t.Context(), pgscript.Script{
		Answer: func(s pgscript.Statement) pgscript.Reply {
			for _, f := range faults {
				if statementText(s.SQL) == f.at && (f.nth == 0 || f.nth == s.Nth) {
					return f.reply
				}
			}
			return pgscript.Reply{}
		},
	})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	// The store has only one connection. So its background queries do not make a transaction continue on another connection.
	s, seen := openInside(t, server.DSN(), func(o *Options) { o.MaxConnections = 1 })
	require.Equal(t, "cockroachdb", s.Engine())
	server.Forget()
	return s, seen, server
}

func statementText(sql string) string {
	if sql == workSQL {
		return saidWork
	}
	return sql
}

// dialogue returns the statements that the server received. A line "--" marks a change to another connection. The store's own queries for regions are
// omitted.
func dialogue(server *pgscript.Server) (said []string) {
	conn, regions := 0, analysed("region_list")
	for _, l := range server.Said() {
		if strings.EqualFold(l.SQL, regions) {
			continue
		}
		if conn != 0 && l.Conn != conn {
			said = append(said, "--")
		}
		conn = l.Conn
		said = append(said, statementText(l.SQL))
	}
	return said
}

// insert runs a transaction of one statement. If then is not nil, the closure returns it. seen contains the attempt numbers that the closure got.
func insert(ctx context.Context, s *Store, dry bool, then error) (seen []int, err error) {
	do := s.InTx
	if dry {
		do = s.DryRun
	}
	err = do(ctx, "insert", storage.Locks{}, func(ctx context.Context, t storage.Tx) error {
		seen = append(seen, t.Attempt())
		b := &pgx.Batch{}
		b.Queue(workSQL, "p")
		if err := t.(*tx).conn.SendBatch(ctx, b).Close(); err != nil {
			return err
		}
		return then
	})
	return seen, err
}

// Each case is one way in which CockroachDB ends a transaction, or fails to report its end. A case lists the statements, the number of runs of the
// closure, the endings of the attempts, and the error for the caller.
func TestCockroachTransactionEndings(t *testing.T) {
	t.Parallel()
	first := []string{saidBegin, saidSavepoint, saidWork, saidRelease}
	whole := append(slices.Clone(first), saidCommit)
	again := func(before ...string) []string { return append(before, whole...) }
	fails := func(code string) pgscript.Reply { return pgscript.Reply{Code: code} }
	fatal := func(code string) pgscript.Reply { return pgscript.Reply{Code: code, Fatal: true} }
	cut := pgscript.Reply{Cut: true}
	domain := ipam.Errorf(ipam.CodeOverlap, "Overlaps.")
	for name, c := range map[string]struct {
		faults []fault
		dry    bool
		then   error
		said   []string
		ran    int
		ends   []string
		code   ipam.Code // "": success
	}{
		"WorksAtOnce": {said: whole, ran: 1, ends: []string{"committed"}},
		"AStatementRestartsInPlace": {
			faults: []fault{{saidWork, 1, fails("40001")}},
			said:   []string{saidBegin, saidSavepoint, saidWork, saidBack, saidWork, saidRelease, saidCommit}, ran: 2, ends: []string{"committed"},
		},
		"ReleaseRestartsInPlace": {
			faults: []fault{{saidRelease, 1, fails("40001")}},
			said:   append(slices.Clone(first), saidBack, saidWork, saidRelease, saidCommit), ran: 2, ends: []string{"committed"},
		},
		"ErrorOfCommitAfterReleaseIsIgnored": {
			faults: []fault{{saidCommit, 1, fails("40001")}}, said: whole, ran: 1, ends: []string{"committed"},
		},
		"ACutAtCommitAfterReleaseIsNoNews": {
			faults: []fault{{saidCommit, 1, cut}}, said: whole, ran: 1, ends: []string{"committed"},
		},
		"ReleaseWithAnAmbiguousResultIsUnknown": {
			faults: []fault{{saidRelease, 1, fails("40003")}},
			said:   append(slices.Clone(first), saidRollback), ran: 1, ends: []string{"unknown 40003"}, code: ipam.CodeOutcomeUnknown,
		},
		"ReleaseOnADrainingNodeIsUnknown": {
			faults: []fault{{saidRelease, 1, fatal("57P01")}}, said: first, ran: 1, ends: []string{"unknown 57P01"}, code: ipam.CodeOutcomeUnknown,
		},
		"ReleaseWithoutAResponseIsUnknown": {
			faults: []fault{{saidRelease, 1, cut}}, said: first, ran: 1, ends: []string{"unknown"}, code: ipam.CodeOutcomeUnknown,
		},
		"ReleaseThatTimesOutIsUnknown": {
			faults: []fault{{saidRelease, 1, fails("57014")}},
			said:   append(slices.Clone(first), saidRollback), ran: 1, ends: []string{"unknown 57014"}, code: ipam.CodeOutcomeUnknown,
		},
		"ReleaseOfAnUnavailableRangeIsUnknown": {
			faults: []fault{{saidRelease, 1, fails("58C00")}},
			said:   append(slices.Clone(first), saidRollback), ran: 1, ends: []string{"unknown 58C00"}, code: ipam.CodeOutcomeUnknown,
		},
		"UnknownAfterARetryStaysUnknown": {
			faults: []fault{{saidRelease, 1, fails("40001")}, {saidRelease, 2, fails("40003")}},
			said:   append(slices.Clone(first), saidBack, saidWork, saidRelease, saidRollback), ran: 2, ends: []string{"unknown 40003"}, code: ipam.CodeOutcomeUnknown,
		},
		"AStatementOnADrainingNodeGoesElsewhere": {
			faults: []fault{{saidWork, 1, fatal("57P01")}},
			said:   again(saidBegin, saidSavepoint, saidWork, "--"), ran: 2, ends: []string{"again 57P01", "committed"},
		},
		"AStatementWithoutAnAnswerGoesElsewhere": {
			faults: []fault{{saidWork, 1, cut}},
			said:   again(saidBegin, saidSavepoint, saidWork, "--"), ran: 2, ends: []string{"again", "committed"},
		},
		"AStatementThatDoesNotSayIsNotCommittedYet": {
			faults: []fault{{saidWork, 1, fails("40003")}},
			said:   again(saidBegin, saidSavepoint, saidWork, saidRollback), ran: 2, ends: []string{"again 40003", "committed"},
		},
		"ASavepointWithoutAnAnswerGoesElsewhere": {
			faults: []fault{{saidSavepoint, 1, cut}},
			said:   again(saidBegin, saidSavepoint, "--"), ran: 1, ends: []string{"again", "committed"},
		},
		"ARestartWithoutAnAnswerGoesElsewhere": { // RELEASE failed before, so nothing can be committed
			faults: []fault{{saidRelease, 1, fails("40001")}, {saidBack, 1, cut}},
			said:   again(append(slices.Clone(first), saidBack, "--")...), ran: 2, ends: []string{"again", "committed"},
		},
		"ARestartThatFailsBeginsAnew": {
			faults: []fault{{saidWork, 1, fails("40001")}, {saidBack, 1, fails("40001")}},
			said:   again(saidBegin, saidSavepoint, saidWork, saidBack, saidRollback), ran: 2, ends: []string{"again 40001", "committed"},
		},
		"ADomainRefusalIsRolledBackAndToldOnce": {
			then: domain, said: []string{saidBegin, saidSavepoint, saidWork, saidRollback}, ran: 1, ends: []string{"refused"}, code: ipam.CodeOverlap,
		},
		"AConstraintIsRolledBackAndToldOnce": {
			faults: []fault{{saidWork, 0, fails("23505")}},
			said:   []string{saidBegin, saidSavepoint, saidWork, saidRollback}, ran: 1, ends: []string{"refused 23505"}, code: ipam.CodeInternal,
		},
		"ADryRunIsNeverReleased": {dry: true, said: []string{saidBegin, saidWork, saidRollback}, ran: 1, ends: []string{"committed"}},
		"ADryRunThatIsRefusedIsToldOnce": {
			dry: true, then: domain, said: []string{saidBegin, saidWork, saidRollback}, ran: 1, ends: []string{"refused"}, code: ipam.CodeOverlap,
		},
		"ADryRunRunsAgainAsAWhole": {
			dry: true, faults: []fault{{saidWork, 1, fails("40001")}},
			said: []string{saidBegin, saidWork, saidRollback, saidBegin, saidWork, saidRollback}, ran: 2, ends: []string{"again 40001", "committed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, seen, server := scripted(t, c.faults...)
			ran, err := insert(t.Context(), s, c.dry, c.then)
			require.Equal(t, c.said, dialogue(server))
			require.Len(t, ran, c.ran)
			for i, n := range ran {
				require.Equal(t, i, n, "attempts are counted wherever they run")
			}
			require.Equal(t, c.ends, seen.ends("insert"))
			told(t, c.code, err)
		})
	}
}

// told requires that the caller gets this code. The message must contain no word of the database's error.
func told(t *testing.T, code ipam.Code, err error) {
	t.Helper()
	if code == "" {
		require.NoError(t, err)
		return
	}
	require.True(t, ipam.IsCode(err, code), "%v", err)
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	for _, word := range []string{"40001", "40003", "57P01", "23505", "scripted", "restart", "SQLSTATE", "savepoint"} {
		require.NotContains(t, e.Message, word)
	}
}

// If the contention does not end, the engine retries some times in place and some times in a new transaction. Then it reports contention. The number
// of retries has a limit, and no connection stays in use.
func TestEndlessCockroachContentionIsRefused(t *testing.T) {
	t.Parallel()
	require.LessOrEqual(t, outcome.MaxAttempts*(inPlaceRetries+1), 200, "runs of one closure")
	for name, at := range map[string]string{"InAStatement": saidWork, "AtRelease": saidRelease} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, seen, server := scripted(t, fault{at, 0, pgscript.Reply{Code: "40001"}})
			ran, err := insert(t.Context(), s, false, nil)
			told(t, ipam.CodeContention, err)
			require.Len(t, ran, outcome.MaxAttempts*(inPlaceRetries+1))
			require.Equal(t, slices.Repeat([]string{"again 40001"}, outcome.MaxAttempts), seen.ends("insert"))
			count := map[string]int{}
			for _, line := range dialogue(server) {
				count[line]++
			}
			delete(count, "--") // the pool may choose another connection for the next attempt
			want := map[string]int{
				saidBegin: outcome.MaxAttempts, saidSavepoint: outcome.MaxAttempts, saidRollback: outcome.MaxAttempts,
				saidWork: outcome.MaxAttempts * (inPlaceRetries + 1), saidBack: outcome.MaxAttempts * (inPlaceRetries + 1),
			}
			if at == saidRelease {
				want[saidRelease] = want[saidWork]
			}
			require.Equal(t, want, count, "in %v", slices.Sorted(maps.Keys(count)))
			requireNoneUsed(t, s)
		})
	}
}

// requireNoneUsed requires that no connection stays in use. It waits, because the store itself may use a connection for a moment.
func requireNoneUsed(t *testing.T, s *Store) {
	t.Helper()
	require.Eventually(t, func() bool { return s.Connections().Used == 0 }, time.Minute, time.Millisecond)
}

// If the deadline passes during RELEASE, the outcome is unknown. If it passes before RELEASE, nothing has changed.
func TestCockroachDeadlineIsUnknownOnlyDuringRelease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   string
		code ipam.Code
	}{"DuringAStatement": {saidWork, ipam.CodeDeadline}, "DuringRelease": {saidRelease, ipam.CodeOutcomeUnknown}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan struct{})
			server, err := pgscript.Start(t.Context(), pgscript.Script{Answer: func(s pgscript.Statement) pgscript.Reply {
				if strings.EqualFold(s.SQL, c.at) || c.at == saidWork && strings.HasPrefix(s.SQL, "SELECT id, name") {
					cancel()
					<-over // until the client has disconnected
				}
				return pgscript.Reply{}
			}, Shape: projectShape})
			require.NoError(t, err)
			t.Cleanup(server.Close)
			s, _ := openInside(t, server.DSN())
			err = s.InTx(ctx, "read", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
				_, err := tx.ProjectGet(ctx, "p")
				if ipam.IsCode(err, ipam.CodeNotFound) {
					return nil
				}
				return err
			})
			close(over)
			told(t, c.code, err)
		})
	}
}

// projectShape describes the columns of a project that is read by its name.
func projectShape(sql string) pgscript.Shape {
	if !strings.HasPrefix(sql, "SELECT id, name") {
		return pgscript.Shape{}
	}
	const text, uuid, at = pgtype.TextOID, pgtype.UUIDOID, pgtype.TimestamptzOID
	return pgscript.Shape{Params: []uint32{text}, Columns: []pgscript.Column{
		{Name: "id", Type: uuid}, {Name: "name", Type: text}, {Name: "display_name", Type: text}, {Name: "description", Type: text},
		{Name: "labels", Type: pgtype.JSONBOID}, {Name: "annotations", Type: pgtype.JSONBOID}, {Name: "generation", Type: pgtype.Int8OID},
		{Name: "revision", Type: uuid}, {Name: "created_at", Type: at}, {Name: "updated_at", Type: at}, {Name: "created_by", Type: text},
	}}
}
