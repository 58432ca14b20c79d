package devdb

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Some tests need processes that die or belong to another user. So the test binary can also run as such a process, with a role and a directory.
const (
	envRole = "CARVE_DEVDB_TEST_ROLE"
	envDir  = "CARVE_DEVDB_TEST_DIR"
)

// roleReport is the output of a role: one line of JSON. Then the role waits for the end of its stdin.
type roleReport struct {
	UID      int
	Postgres int    // process id of the database
	DSN      string // where it listens
	Err      string // reason of the role's failure
}

func TestMain(m *testing.M) {
	if role := os.Getenv(envRole); role != "" {
		play(role, os.Getenv(envDir))
		return
	}
	code := m.Run()
	if seed.dir != "" {
		_ = os.RemoveAll(seed.dir)
	}
	os.Exit(code)
}

func play(role, dir string) {
	ctx := context.Background()
	report := roleReport{UID: os.Geteuid()}
	var db *DB
	var err error
	switch role {
	case "serve-untied":
		parentDeathSignal = false
		fallthrough
	case "serve":
		if db, err = Start(ctx, Config{DataDir: dir}); err == nil {
			report.Postgres, report.DSN = db.proc.pid(), db.DSN()
		}
	case "dial":
		_, err = askAt(ctx, dir, "SELECT 'reached'")
	default:
		err = fmt.Errorf("no role %q", role)
	}
	if err != nil {
		report.Err = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(report)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if db != nil {
		_ = db.Stop(ctx)
	}
}

// actor is a process that runs a role.
type actor struct {
	roleReport
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
}

// enact runs a role and returns after its report. cred is nil for this user.
func enact(t *testing.T, role, dir string, cred *syscall.Credential) *actor {
	t.Helper()
	cmd := exec.Command(sharedTestBinary(t))
	cmd.Env = append(os.Environ(), envRole+"="+role, envDir+"="+dir)
	cmd.Dir = "/"
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	a := &actor{t: t, cmd: cmd, stdin: stdin}
	t.Cleanup(a.dismiss)
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(line, &a.roleReport))
	return a
}

// dismiss ends a role properly.
func (a *actor) dismiss() {
	a.stdin.Close()
	_ = a.cmd.Wait()
}

// kill ends a role with SIGKILL.
func (a *actor) kill() {
	a.t.Helper()
	require.NoError(a.t, a.cmd.Process.Kill())
	_ = a.cmd.Wait()
}

// sharedTestBinary returns a copy of the test binary that another user may run, because `go test` puts the binary into a private directory. Another
// process makes the copy. If this process had the file open for writing while another test starts a process, the file could not be executed.
func sharedTestBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	if os.Geteuid() != 0 {
		return self
	}
	path := filepath.Join(sharedDir(t), "devdb.test")
	out, err := exec.Command("install", "-m", "755", self, path).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// sharedDir returns a temporary directory that every user can enter, unlike t.TempDir for root.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "carve-test-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// seed is a cluster that was started once and stopped. The first use creates it.
var seed = struct {
	once sync.Once
	dir  string
	err  error
}{}

// dataDir returns a data directory with an empty database. Most tests do not test the first start, which takes ten times as long as a later one.
func dataDir(t *testing.T) string {
	t.Helper()
	return seeded(t, t.TempDir())
}

func seeded(t *testing.T, dir string) string {
	t.Helper()
	seed.once.Do(func() {
		if seed.dir, seed.err = os.MkdirTemp("", "carve-test-seed-"); seed.err != nil {
			return
		}
		var db *DB
		if db, seed.err = Start(context.Background(), Config{DataDir: seed.dir, Volatile: true}); seed.err == nil {
			seed.err = db.Stop(context.Background())
		}
	})
	require.NoError(t, seed.err)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	out, err := exec.Command("cp", "-a", filepath.Join(seed.dir, clusterName), dir).CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}

// start starts a database that stops at the end of the test.
func start(t *testing.T, dir string) *DB {
	t.Helper()
	db, err := Start(t.Context(), Config{DataDir: dir, Log: testLog(t)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Stop(context.Background()) })
	return db
}

func testLog(t *testing.T) *slog.Logger {
	t.Helper()
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// ask executes statements on the database, and returns the first column of the last statement's first row.
func ask(t *testing.T, db *DB, statements ...string) string {
	t.Helper()
	answer, err := askAt(t.Context(), db.DSN(), statements...)
	require.NoError(t, err)
	return answer
}

func askAt(ctx context.Context, dsn string, statements ...string) (string, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	answer := ""
	for _, statement := range statements {
		results, err := conn.PgConn().Exec(ctx, statement).ReadAll()
		if err != nil {
			return "", err
		}
		if rows := results[len(results)-1].Rows; len(rows) > 0 {
			answer = string(rows[0][0])
		}
	}
	return answer, nil
}

// Statements that write a row, and that read it.
const (
	remember = "CREATE TABLE memory (word TEXT); INSERT INTO memory VALUES ('kept')"
	recall   = "SELECT word FROM memory"
)

// eventually polls until a condition is true.
func eventually(t *testing.T, what string, holdsLock func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, poll(ctx, func() (bool, error) { return holdsLock(), nil }), what)
}

// ended waits until a database has ended.
func ended(t *testing.T, db *DB) {
	t.Helper()
	select {
	case <-db.Exited():
	case <-time.After(time.Minute):
		t.Fatal("the database did not end")
	}
}

// lives reports whether a process exists and is no zombie.
func lives(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z")
}
