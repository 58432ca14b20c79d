package outcome

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

// states lists each SQLSTATE with its meaning before COMMIT and at COMMIT. The sources are the manuals of both engines, and measurements. The codes
// are sorted.
var states = []struct {
	code           string
	before, commit Ending
}{
	{"08000", RetrySlowly, Indeterminate}, {"08001", RetrySlowly, Indeterminate}, {"08003", RetrySlowly, Indeterminate},
	{"08004", RetrySlowly, Indeterminate}, {"08006", RetrySlowly, Indeterminate}, {"08P01", RetrySlowly, Indeterminate},
	{"08C00", RetrySlowly, Indeterminate},
	{"0A000", Retry, Indeterminate}, // "cached plan must not change result type"
	{"22001", Refused, Refused},     // bad data
	{"22P05", Refused, Refused},
	{"23502", Refused, Refused}, // constraints; deferred constraints fail at COMMIT
	{"23503", Refused, Refused}, {"23505", Refused, Refused}, {"23514", Refused, Refused},
	{"25006", RetrySlowly, Indeterminate},                                        // a standby
	{"25P03", RetrySlowly, Indeterminate}, {"25P04", RetrySlowly, Indeterminate}, // the idle timeout and the transaction timeout
	{"26000", Retry, Indeterminate},                                              // "prepared statement does not exist"
	{"28000", RetrySlowly, Indeterminate}, {"28P01", RetrySlowly, Indeterminate}, // credentials, which may be changing
	{"3D000", RetrySlowly, Indeterminate}, // no such database
	{"40001", Retry, Retry},               // serialization failure; definite
	{"40002", Refused, Refused},           // "integrity constraint violation" at the end of a transaction
	{"40003", Retry, Indeterminate},       // "statement completion unknown": before COMMIT nothing is committed
	{"40P01", Retry, Retry},               // deadlock
	{"42601", Refused, Refused}, {"42P01", Refused, Refused}, {"42501", Refused, Refused},
	{"53000", RetrySlowly, Indeterminate}, {"53100", RetrySlowly, Indeterminate}, // resources, disk
	{"53200", RetrySlowly, Indeterminate}, {"53300", RetrySlowly, Indeterminate}, // memory, connections
	{"53400", RetrySlowly, Indeterminate}, // a configured limit
	{"55P03", Retry, Indeterminate},       // lock not available
	{"57014", Refused, Indeterminate},     // cancelled, as by statement_timeout
	{"57P01", RetrySlowly, Indeterminate}, {"57P02", RetrySlowly, Indeterminate}, {"57P03", RetrySlowly, Indeterminate},
	{"57P04", RetrySlowly, Indeterminate},                                        // the database was dropped
	{"58C00", RetrySlowly, Indeterminate}, {"58C01", RetrySlowly, Indeterminate}, // CockroachDB: range unavailable, and lost internal connection
	{"CR000", Retry, Retry}, // CockroachDB, an old retry code
	{"XX000", Refused, Indeterminate},
	{"XXUUU", RetrySlowly, Indeterminate}, // CockroachDB: no code; usually the network, or the end of a session that was idle in a transaction
	{"XXA00", Refused, Indeterminate},     // CockroachDB: committed, but a schema change failed
	{"XCUBS", Refused, Indeterminate}, {"XCHR1", Refused, Indeterminate}, {"XCHR2", Refused, Indeterminate},
	{"99999", Refused, Indeterminate}, // an unknown code
}

func TestSQLStateDecidesBeforeAndAtCommit(t *testing.T) {
	t.Parallel()
	for _, row := range states {
		err := fmt.Errorf("wrapped: %w", &pgconn.PgError{Code: row.code})
		end, state := Classify(err)
		require.Equal(t, row.before, end, "%s before COMMIT", row.code)
		require.Equal(t, row.code, state)
		end, state = Classify(AtCommit(err))
		require.Equal(t, row.commit, end, "%s at COMMIT", row.code)
		require.Equal(t, row.code, state)
	}
}

// Several statements are sent together with their COMMIT, and one of them fails. Then the server skips the others, so the error is definite. If the
// error ends the session, the outcome is unknown.
func TestErrorBeforeItsPipelinedCommitIsDefiniteExceptForTheSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		severity, code string
		want           Ending
	}{{"ERROR", "22012", Refused}, {"ERROR", "40001", Retry}, {"FATAL", "57P01", Indeterminate}, {"ERROR", "XXUUU", Indeterminate}} {
		end, _ := Classify(BeforeCommit(&pgconn.PgError{Severity: c.severity, Code: c.code}))
		require.Equal(t, c.want, end, "%s %s", c.severity, c.code)
	}
	end, _ := Classify(BeforeCommit(io.EOF))
	require.Equal(t, Indeterminate, end)
}

// These are errors that the driver may return for a lost connection. pgx reports some of them as safe to retry, even after COMMIT was sent.
func TestLostConnectionIsRetriedBeforeCommitAndUnknownAtCommit(t *testing.T) {
	t.Parallel()
	for _, lost := range []error{
		io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed, errors.New("conn closed"),
		&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, safeToRetry{},
	} {
		end, _ := Classify(fmt.Errorf("wrapped: %w", lost))
		require.Equal(t, RetrySlowly, end, "%v before COMMIT", lost)
		end, _ = Classify(AtCommit(lost))
		require.Equal(t, Indeterminate, end, "%v at COMMIT", lost)
	}
	require.True(t, pgconn.SafeToRetry(safeToRetry{}), "or the above proves nothing")
}

// safeToRetry is an error of the driver that claims that a retry is safe.
type safeToRetry struct{}

func (safeToRetry) Error() string     { return "conn closed" }
func (safeToRetry) SafeToRetry() bool { return true }

func TestNoCodeCallsSafeToRetry(t *testing.T) {
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

func TestCallerDeadlineIsUnknownAtCommitAndFinalBefore(t *testing.T) {
	t.Parallel()
	for _, over := range []error{context.Canceled, context.DeadlineExceeded} {
		end, _ := Classify(over)
		require.Equal(t, Refused, end)
		require.True(t, ipam.IsCode(Refusal(t.Context(), "op", over), ipam.CodeDeadline))
		end, _ = Classify(AtCommit(over))
		require.Equal(t, Indeterminate, end)
	}
}

func TestErrorsNotFromTheDatabaseAreClassified(t *testing.T) {
	t.Parallel()
	domain, conflict, own := ipam.Errorf(ipam.CodeOverlap, "Overlaps."), &storage.Conflict{}, errors.New("of a use case")
	for name, c := range map[string]struct {
		err  error
		want Ending
	}{
		"nothing":                       {nil, Committed},
		"a refusal":                     {domain, Refused},
		"a conflict":                    {conflict, Refused},
		"a plan from a state that went": {fmt.Errorf("x: %w", write.ErrStale), Retry},
		"another error of a closure":    {&closureError{own}, Refused},
		"COMMIT answered by ROLLBACK":   {pgx.ErrTxCommitRollback, Refused},
		"no rows where one must be":     {pgx.ErrNoRows, Refused},
		"a refusal that has a cause":    {ipam.Errorf(ipam.CodeOverlap, "x").WithCause(&pgconn.PgError{Code: "40001"}), Retry},
		"a conflict behind a statement": {errors.Join(conflict, &pgconn.PgError{Code: "40001"}), Refused},
	} {
		end, _ := Classify(c.err)
		require.Equal(t, c.want, end, name)
	}
	require.Same(t, domain, Refusal(t.Context(), "op", domain))
	require.Same(t, conflict, Refusal(t.Context(), "op", conflict))
	require.Same(t, own, Refusal(t.Context(), "op", &closureError{own}))
	require.True(t, ipam.IsCode(Refusal(t.Context(), "op", pgx.ErrTxCommitRollback), ipam.CodeInternal))
}

var constraintName = regexp.MustCompile(`(?i)(?:CONSTRAINT|UNIQUE INDEX(?: IF NOT EXISTS)?)\s+([a-z0-9_]+)`)

var remarkLine = regexp.MustCompile(`(?m)^--.*$`)

var droppedConstraint = regexp.MustCompile(`(?i)DROP CONSTRAINT IF EXISTS\s+([a-z0-9_]+)`)

func TestOnlyConstraintsOfTheMigrationsAreMapped(t *testing.T) {
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

func TestConstraintNameDecidesTheErrorCode(t *testing.T) {
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
		{"claim_group", "23505", "holds_pkey", ipam.CodeInternal},
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

// A transaction violates one of these constraints if another transaction has written since its reads. The caller gets no error, because the attempt
// is retried.
func TestConstraintOfAnOutdatedPlanIsRetried(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"members_pkey": "23505", "members_subject_key": "23505", "grants_pkey": "23505", "grants_consumer_key": "23505", "quotas_pkey": "23505", "quota_shards_pkey": "23505",
		"members_project_fkey": "23503", "api_keys_project_fkey": "23503", "quotas_project_fkey": "23503",
		"classes_project_fkey": "23503", "pool_classes_class_fkey": "23503", "pools_scope_class_fkey": "23503", "pools_scope_key": "23505",
	}
	for constraint := range constraints {
		for _, code := range []string{"23505", "23503", "23514", "23502"} {
			pg := &pgconn.PgError{Code: code, ConstraintName: constraint}
			end, state := Classify(&closureError{fmt.Errorf("wrapped: %w", pg)})
			require.Equal(t, code, state)
			expected := Refused
			if want[constraint] == code {
				expected = Retry
			}
			require.Equal(t, expected, end, "%s of %s", code, constraint)
			end, _ = Classify(&unknownOutcome{pg})
			require.Equal(t, Indeterminate, end, "but at COMMIT an unknown outcome stays one")
		}
	}
}

// The cause of an error goes to the log. The caller gets only a sentence without it.
func TestDriverTextIsNotInPublicMessages(t *testing.T) {
	t.Parallel()
	var found []error
	for _, row := range states {
		for _, constraint := range slices.Sorted(maps.Keys(constraints)) {
			pg := &pgconn.PgError{
				Code: row.code, ConstraintName: constraint, Severity: "SECRET", Message: "SECRET message", Detail: "SECRET detail", Hint: "SECRET hint",
				InternalQuery: "SECRET query", Where: "SECRET where", TableName: "secret_table", File: "secret.c", Routine: "secret_routine",
			}
			for _, op := range []string{"claim_group", "project_delete"} {
				found = append(found, Refusal(t.Context(), op, pg))
			}
			found = append(found, GaveUp(t.Context(), Retry, pg), GaveUp(t.Context(), RetrySlowly, pg), Deadline(pg))
		}
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	found = append(found, GaveUp(late, Retry, errors.New("SECRET")), Refusal(late, "op", errors.New("SECRET")))
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
