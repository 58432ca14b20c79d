package pgfault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// clusterDSN is the private PostgreSQL of this test binary, on a unix socket.
var clusterDSN string

func TestMain(m *testing.M) {
	runtime.LockOSThread() // Pdeathsig follows the thread that started the process
	code, err := withCluster(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "private PostgreSQL:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

// withCluster runs f against a fresh cluster. Users named after an authentication method must use it.
func withCluster(f func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "pgfault") // short: a socket path has at most 107 bytes
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	attr, err := unprivileged(dir)
	if err != nil {
		return 0, err
	}
	data := filepath.Join(dir, "data")
	initdb := program("initdb", attr, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--locale=C.UTF-8", "-E", "UTF8")
	if out, err := initdb.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	hba := "local all scram scram-sha-256\nlocal all md5 md5\nlocal all plain password\nlocal all all trust\n"
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hba), 0o600); err != nil {
		return 0, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return 0, err
	}
	defer log.Close()
	server := program("postgres", attr, "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200")
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait() // its exit status reports only the stop
	}()
	clusterDSN = fmt.Sprintf("host=%s user=postgres dbname=postgres default_transaction_isolation=serializable", dir)
	if err := ready(clusterDSN); err != nil {
		text, _ := os.ReadFile(log.Name())
		return 0, fmt.Errorf("%w\n%s", err, text)
	}
	return f(), nil
}

// unprivileged gives the directory to the user postgres if the test runs as root, because PostgreSQL refuses to run as root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	if os.Getuid() != 0 {
		return attr, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(account.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(account.Gid)
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}

func program(name string, attr *syscall.SysProcAttr, args ...string) *exec.Cmd {
	path, err := exec.LookPath(name)
	if err != nil { // Debian keeps servers off the PATH
		if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(found) > 0 {
			path = found[len(found)-1]
		}
	}
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = attr
	cmd.Dir = "/"
	return cmd
}

// ready connects until the server accepts it, and creates the users. It fails at an error other than those of a server
// that is still starting.
func ready(dsn string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, dsn)
	for starting(err) {
		runtime.Gosched()
		conn, err = pgx.Connect(ctx, dsn)
	}
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `
		create user scram password 'secret';
		create user plain password 'secret';
		set password_encryption = 'md5';
		create user md5 password 'secret';`)
	return errors.Join(err, conn.Close(ctx))
}

func starting(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED) || sqlState(err) == "57P03"
}
