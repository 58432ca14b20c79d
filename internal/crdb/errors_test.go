package crdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/migrations"
)

// states is the table of what an SQLSTATE means before COMMIT and at COMMIT, from the manuals of both engines and what was
// measured on them. The order of writing is that of the SQL standard's classes.
var states = []struct {
	code           string
	before, commit ending
}{
	{"08000", endAgainSlowly, endUnknown}, {"08001", endAgainSlowly, endUnknown}, {"08003", endAgainSlowly, endUnknown},
	{"08004", endAgainSlowly, endUnknown}, {"08006", endAgainSlowly, endUnknown}, {"08P01", endAgainSlowly, endUnknown},
	{"08C00", endAgainSlowly, endUnknown},
	{"0A000", endAgain, endUnknown},   // cached plan must not change result type
	{"22001", endRefused, endRefused}, // bad data
	{"22P05", endRefused, endRefused},
	{"23502", endRefused, endRefused}, // constraints, deferred ones at COMMIT
	{"23503", endRefused, endRefused}, {"23505", endRefused, endRefused}, {"23514", endRefused, endRefused},
	{"25006", endAgainSlowly, endUnknown},                                        // a standby
	{"25P03", endAgainSlowly, endUnknown}, {"25P04", endAgainSlowly, endUnknown}, // idle in transaction, transaction too long
	{"26000", endAgain, endUnknown},                                              // prepared statement does not exist
	{"28000", endAgainSlowly, endUnknown}, {"28P01", endAgainSlowly, endUnknown}, // credentials: being changed
	{"3D000", endAgainSlowly, endUnknown}, // no such database
	{"40001", endAgain, endAgain},         // serialization: definite
	{"40002", endRefused, endRefused},     // integrity constraint at the end
	{"40003", endAgain, endUnknown},       // statement completion unknown: nothing is committed before COMMIT
	{"40P01", endAgain, endAgain},         // deadlock
	{"42601", endRefused, endRefused}, {"42P01", endRefused, endRefused}, {"42501", endRefused, endRefused},
	{"53000", endAgainSlowly, endUnknown}, {"53100", endAgainSlowly, endUnknown}, // resources, disk
	{"53200", endAgainSlowly, endUnknown}, {"53300", endAgainSlowly, endUnknown}, // memory, connections
	{"53400", endAgainSlowly, endUnknown}, // a configured limit
	{"55P03", endAgain, endUnknown},       // lock not available
	{"57014", endRefused, endUnknown},     // cancelled, statement_timeout
	{"57P01", endAgainSlowly, endUnknown}, {"57P02", endAgainSlowly, endUnknown}, {"57P03", endAgainSlowly, endUnknown},
	{"57P04", endAgainSlowly, endUnknown},                                        // database dropped
	{"58C00", endAgainSlowly, endUnknown}, {"58C01", endAgainSlowly, endUnknown}, // CockroachDB: range unavailable, internal connection
	{"CR000", endAgain, endAgain}, // CockroachDB, historic
	{"XX000", endRefused, endUnknown}, {"XXUUU", endRefused, endUnknown},
	{"XXA00", endRefused, endUnknown}, // CockroachDB: committed, schema change failed
	{"XCUBS", endRefused, endUnknown}, {"XCHR1", endRefused, endUnknown}, {"XCHR2", endRefused, endUnknown},
	{"99999", endRefused, endUnknown}, // never heard of
}

func TestSQLStateDecidesBeforeAndAtCommit(t *testing.T) {
	t.Parallel()
	for _, row := range states {
		err := fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: row.code})
		end, state := classify(err)
		require.Equal(t, row.before, end, "%s before COMMIT", row.code)
		require.Equal(t, row.code, state)
		end, state = classify(atCommit(err))
		require.Equal(t, row.commit, end, "%s at COMMIT", row.code)
		require.Equal(t, row.code, state)
	}
}

// What the driver may say of a connection that ends. pgx calls some of them safe to retry, also when COMMIT was sent.
func TestALostConnectionIsRetriedBeforeCommitAndUnknownAtCommit(t *testing.T) {
	t.Parallel()
	for _, lost := range []error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed, errors.New("conn closed"),
		&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, safeToRetry{},
	} {
		end, _ := classify(fmt.Errorf("wrapped: %w", lost))
		require.Equal(t, endAgainSlowly, end, "%v before COMMIT", lost)
		end, _ = classify(atCommit(lost))
		require.Equal(t, endUnknown, end, "%v at COMMIT", lost)
	}
	require.True(t, pgconn.SafeToRetry(safeToRetry{}), "or the above proves nothing")
}

// safeToRetry is a driver's error that promises what it cannot know.
type safeToRetry struct{}

func (safeToRetry) Error() string     { return "conn closed" }
func (safeToRetry) SafeToRetry() bool { return true }

func TestNobodyAsksTheDriverWhetherRetryingIsSafe(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	checked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NotContains(t, string(text), "SafeToRetry(", name)
		checked++
	}
	require.NotZero(t, checked)
}

func TestTheEndOfTheCallersTimeIsUnknownAtCommitAndFinalBefore(t *testing.T) {
	t.Parallel()
	for _, over := range []error{context.Canceled, context.DeadlineExceeded} {
		end, _ := classify(over)
		require.Equal(t, endRefused, end)
		require.True(t, ipam.IsCode(refusedError(t.Context(), "op", over), ipam.CodeDeadline))
		end, _ = classify(atCommit(over))
		require.Equal(t, endUnknown, end)
	}
}

func TestWhatIsNoNewsFromTheDatabase(t *testing.T) {
	t.Parallel()
	domain, conflict, own := ipam.Errorf(ipam.CodeOverlap, "Overlaps."), &storage.Conflict{}, errors.New("of a use case")
	for name, c := range map[string]struct {
		err  error
		want ending
	}{
		"nothing":                       {nil, endCommitted},
		"a refusal":                     {domain, endRefused},
		"a conflict":                    {conflict, endRefused},
		"a plan from a state that went": {fmt.Errorf("x: %w", write.ErrStale), endAgain},
		"another error of a closure":    {&closureError{own}, endRefused},
		"COMMIT answered by ROLLBACK":   {pgx.ErrTxCommitRollback, endRefused},
		"no rows where one must be":     {pgx.ErrNoRows, endRefused},
		"a refusal that has a cause":    {ipam.Errorf(ipam.CodeOverlap, "x").Because(&pgconn.PgError{Code: "40001"}), endAgain},
		"a conflict behind a statement": {errors.Join(conflict, &pgconn.PgError{Code: "40001"}), endRefused},
	} {
		end, _ := classify(c.err)
		require.Equal(t, c.want, end, name)
	}
	require.Same(t, domain, refusedError(t.Context(), "op", domain))
	require.Same(t, conflict, refusedError(t.Context(), "op", conflict))
	require.Same(t, own, refusedError(t.Context(), "op", &closureError{own}))
	require.True(t, ipam.IsCode(refusedError(t.Context(), "op", pgx.ErrTxCommitRollback), ipam.CodeInternal))
}

var constraintName = regexp.MustCompile(`(?i)(?:CONSTRAINT|UNIQUE INDEX(?: IF NOT EXISTS)?)\s+([a-z0-9_]+)`)

var remarkLine = regexp.MustCompile(`(?m)^--.*$`)

var droppedConstraint = regexp.MustCompile(`(?i)DROP CONSTRAINT IF EXISTS\s+([a-z0-9_]+)`)

func TestEveryConstraintOfTheMigrationsIsMappedAndNoOther(t *testing.T) {
	t.Parallel()
	files, err := migrations.FS.ReadDir(".")
	require.NoError(t, err)
	named := map[string]string{}
	for _, f := range files {
		file, err := migrations.FS.ReadFile(f.Name())
		require.NoError(t, err)
		text := remarkLine.ReplaceAllString(string(file), "")
		for _, m := range droppedConstraint.FindAllStringSubmatch(text, -1) {
			delete(named, m[1])
		}
		for _, m := range constraintName.FindAllStringSubmatch(droppedConstraint.ReplaceAllString(text, ""), -1) {
			require.NotContains(t, named, m[1], "one name, one constraint")
			named[m[1]] = f.Name()
		}
	}
	require.NotEmpty(t, named)
	require.ElementsMatch(t, slices.Collect(maps.Keys(named)), slices.Collect(maps.Keys(constraints)))
	for name, say := range constraints {
		require.NotEmpty(t, say().Message, name)
	}
}

func TestAConstraintDecidesTheCodeNotTheText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		op, state, constraint string
		want                  ipam.Code
	}{
		{"project_create", "23505", "projects_name_key", ipam.CodeAlreadyExists},
		{"space_create", "23505", "spaces_name_key", ipam.CodeAlreadyExists},
		{"pool_create", "23505", "pools_name_key", ipam.CodeAlreadyExists},
		{"key_create", "23505", "api_keys_name_key", ipam.CodeAlreadyExists},
		{"class_create", "23505", "classes_name_key", ipam.CodeAlreadyExists},
		{"class_patch", "23505", "classes_default_key", ipam.CodeAlreadyExists},
		{"key_create", "23505", "api_keys_pkey", ipam.CodeInternal},
		{"member_put", "23514", "members_role_check", ipam.CodeInternal},
		{"claim_group", "23505", "audit_events_pkey", ipam.CodeInternal},
		{"pool_create", "23503", "pools_project_fkey", ipam.CodeNotFound},
		{"pool_create", "23503", "pools_space_fkey", ipam.CodeNotFound},
		{"space_create", "23503", "spaces_project_fkey", ipam.CodeNotFound},
		{"project_delete", "23503", "pools_project_fkey", ipam.CodeInUse},
		{"space_delete", "23503", "pools_space_fkey", ipam.CodeInUse},
		{"claim_group", "23505", "allocations_pkey", ipam.CodeInternal},
		{"claim_group", "23505", "free_blocks_pkey", ipam.CodeInternal},
		{"claim_group", "23505", "no_such_key", ipam.CodeInternal},
		{"claim_group", "23502", "", ipam.CodeInternal},
		{"claim_group", "57014", "", ipam.CodeDeadline},
		{"claim_group", "42P01", "", ipam.CodeInternal},
	} {
		err := databaseError(c.op, &pgconn.PgError{Code: c.state, ConstraintName: c.constraint})
		require.Equal(t, c.want, ipam.CodeOf(err), "%+v", c)
	}
}

// What a plan of the use case breaks because something else was written meanwhile is no news for the caller: it looks again.
func TestAConstraintThatSaysThePlanIsOutOfDateMeansAgain(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"members_pkey": "23505", "members_subject_key": "23505", "grants_pkey": "23505", "grants_consumer_key": "23505", "quotas_pkey": "23505", "quota_shards_pkey": "23505",
		"members_project_fkey": "23503", "api_keys_project_fkey": "23503", "quotas_project_fkey": "23503",
		"classes_project_fkey": "23503", "pool_classes_class_fkey": "23503", "pools_scope_class_fkey": "23503", "pools_scope_key": "23505",
	}
	for constraint := range constraints {
		for _, code := range []string{"23505", "23503", "23514", "23502"} {
			pg := &pgconn.PgError{Code: code, ConstraintName: constraint}
			end, state := classify(&closureError{fmt.Errorf("wrapped: %w", pg)})
			require.Equal(t, code, state)
			expected := endRefused
			if want[constraint] == code {
				expected = endAgain
			}
			require.Equal(t, expected, end, "%s of %s", code, constraint)
			end, _ = classify(&unknownOutcome{pg})
			require.Equal(t, endUnknown, end, "but at COMMIT an unknown outcome stays one")
		}
	}
}

// The cause goes to the log; the sentences go to the caller.
func TestNothingOfTheDriverIsInAPublicSentence(t *testing.T) {
	t.Parallel()
	var found []error
	for _, row := range states {
		for _, constraint := range slices.Sorted(maps.Keys(constraints)) {
			pg := &pgconn.PgError{
				Code: row.code, ConstraintName: constraint, Severity: "SECRET", Message: "SECRET message", Detail: "SECRET detail", Hint: "SECRET hint",
				InternalQuery: "SECRET query", Where: "SECRET where", TableName: "secret_table", File: "secret.c", Routine: "secret_routine",
			}
			for _, op := range []string{"claim_group", "project_delete"} {
				found = append(found, refusedError(t.Context(), op, pg))
			}
			found = append(found, gaveUp(t.Context(), endAgain, pg), gaveUp(t.Context(), endAgainSlowly, pg), deadline(pg))
		}
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	found = append(found, gaveUp(late, endAgain, errors.New("SECRET")), refusedError(late, "op", errors.New("SECRET")))
	for _, err := range found {
		var e *ipam.Error
		require.ErrorAs(t, err, &e)
		public := e.Message
		for _, f := range e.Fields {
			public += " " + f.Pointer + " " + f.Detail
		}
		lower := strings.ToLower(public)
		for _, word := range []string{"secret", "sqlstate", "postgres", "cockroach", "pgx", "_key", "_pkey", "_check"} {
			require.NotContains(t, lower, word)
		}
		require.NotRegexp(t, `\b[0-9A-Z]{2}[0-9A-Z]{3}\b`, public, "no SQLSTATE")
		require.NotEmpty(t, e.Message)
		require.Error(t, errors.Unwrap(e), "the cause is kept for the log")
	}
}
