package crdb

import (
	"cmp"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgscript"
)

// saidLoans is the name of the statement that these tests read with. Any other read would do.
const saidLoans = "loan_sizes"

// noon is the time of the scripted server's snapshot in nanoseconds. within is the number of events within that nanosecond.
const noon, within = 1772452800123456789, 2

// remark matches a comment line in the file of a statement. Comments are not sent to the database.
var remark = regexp.MustCompile(`(?m)^--.*$`)

// testdata contains the statements that only CockroachDB runs. tools/sqlcheck parses these statements with CockroachDB's grammar.
func TestCockroachStatementsAreRecorded(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "cockroach.txt"))
	require.NoError(t, err)
	require.Equal(t, clockStatement+";\n"+beginStaleRead+";\n", string(text))
}

// following returns a store on a scripted server. The server reports the time of its snapshot, and has the given faults.
func following(t *testing.T, faults []fault) (*Store, func() []string) {
	t.Helper()
	timestamp := new(big.Int).Add(new(big.Int).Mul(big.NewInt(noon), big.NewInt(1e10)), big.NewInt(within))
	of := map[string]string{strings.Join(strings.Fields(remark.ReplaceAllString(query.Get(saidLoans), "")), " "): saidLoans}
	named := func(sql string) string { return cmp.Or(of[sql], sql) }
	server, err := pgscript.Start(t.Context(), pgscript.Script{
		Answer: func(s pgscript.Statement) pgscript.Reply {
			for _, f := range faults {
				if named(s.SQL) == f.at && (f.nth == 0 || f.nth == s.Nth) {
					return f.reply
				}
			}
			if s.SQL == clockStatement {
				return pgscript.Reply{Rows: [][]any{{pgtype.Numeric{Int: timestamp, Exp: -10, Valid: true}}}}
			}
			return pgscript.Reply{}
		},
		Shape: func(sql string) pgscript.Shape {
			switch {
			case sql == clockStatement:
				return pgscript.Shape{Columns: []pgscript.Column{{Name: "cluster_logical_timestamp", Type: pgtype.NumericOID}}}
			case named(sql) == saidLoans:
				return pgscript.Shape{Params: []uint32{pgtype.UUIDArrayOID}, Columns: []pgscript.Column{{Name: "pool_id", Type: pgtype.UUIDOID}}}
			default:
				return pgscript.Shape{}
			}
		},
	})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	s, _ := openInside(t, server.DSN())
	server.Forget()
	return s, func() (said []string) {
		for _, line := range dialogue(server) {
			said = append(said, named(line))
		}
		return said
	}
}

// Each case lists all statements of a stale read on CockroachDB, whether it gets a time, and the error after a failure.
func TestStaleReadsOnCockroachUseFollowerReads(t *testing.T) {
	t.Parallel()
	whole := []string{beginStaleRead, clockStatement, saidLoans, "commit"}
	for name, c := range map[string]struct {
		faults []fault
		said   []string
		at     bool
		code   ipam.Code // "": success
	}{
		"OneHistoricalTransaction": {said: whole, at: true},
		"RetriedAfterAFailure": {
			faults: []fault{{saidLoans, 1, pgscript.Reply{Code: "40001"}}},
			said:   append([]string{beginStaleRead, clockStatement, saidLoans, "rollback"}, whole...), at: true,
		},
		"ContinuedOnAnotherNode": {
			faults: []fault{{saidLoans, 1, pgscript.Reply{Code: "57P01", Fatal: true}}},
			said:   append([]string{beginStaleRead, clockStatement, saidLoans, "--"}, whole...), at: true,
		},
		"CurrentIfTheTablesAreTooNew": {
			faults: []fault{{saidLoans, 1, pgscript.Reply{Code: "42P01"}}},
			said:   []string{beginStaleRead, clockStatement, saidLoans, "rollback", "--", saidLoans},
		},
		"RefusedForAPermanentError": {
			faults: []fault{{saidLoans, 0, pgscript.Reply{Code: "42501"}}},
			said:   []string{beginStaleRead, clockStatement, saidLoans, "rollback"}, code: ipam.CodeInternal,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, said := following(t, c.faults)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var read storage.Moment
			_, err := s.Behind(&read).LoanSizes(ctx, []ipam.ID{{1}})
			require.Equal(t, c.code, ipam.CodeOf(err), "%v", err)
			require.Equal(t, c.said, said())
			at := read.At()
			if !c.at {
				require.Zero(t, at)
				return
			}
			require.Equal(t, time.Unix(0, noon).UTC(), at)
			requireNoneUsed(t, s)
		})
	}
}
