package dbtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// SecurePassword is the first password of SecureUser. Its text is unique, so that tests can search for leaks of it.
const (
	SecureUser     = "carve"
	SecurePassword = "hunter2-of-the-test"
)

// Secure is a PostgreSQL on a loopback port that accepts only TLS connections.
type Secure struct {
	CA   *devca.CA // issuer of its certificate, for localhost, and of client certificates that it accepts
	dir  string
	port int
}

// NewSecure starts a server for the test. The user SecureUser owns its database "carve" and authenticates with a password and with a certificate that CA
// issued.
func NewSecure(t testing.TB) *Secure {
	t.Helper()
	bin := programsOfPostgres(t)
	parent, err := os.MkdirTemp("", "carve") // short: the path of a socket has at most 108 bytes
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(parent) })
	run, owner := runner(t, parent)
	ca, err := devca.New("the database's")
	require.NoError(t, err)
	s := &Secure{CA: ca, dir: filepath.Join(parent, "data")}
	run(filepath.Join(bin, "initdb"), "-D", s.dir, "--username=postgres", "--encoding=UTF8", "--locale=C.UTF-8", "--auth-local=trust", "--auth-host=reject", "--no-sync")
	certificate, key, err := ca.Issue(devca.Leaf{Name: "database", Hosts: []string{"localhost"}})
	require.NoError(t, err)
	for name, content := range map[string][]byte{
		"server.crt": certificate, "server.key": key, "clients.crt": ca.PEM(),
		"pg_hba.conf": []byte("local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\nhostssl all all ::1/128 scram-sha-256 clientcert=verify-ca\n"),
	} {
		path := filepath.Join(s.dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		owner(path)
	}
	s.start(t, bin, parent, run)
	t.Cleanup(func() { run(filepath.Join(bin, "pg_ctl"), "-D", s.dir, "-w", "-m", "immediate", "stop") })
	s.Exec(t, "CREATE ROLE "+SecureUser+" LOGIN PASSWORD '"+SecurePassword+"'", "CREATE DATABASE carve OWNER "+SecureUser)
	return s
}

// start starts the server on a port that was free a moment before.
func (s *Secure) start(t testing.TB, bin, sockets string, run func(name string, args ...string)) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address, ok := l.Addr().(*net.TCPAddr)
	require.True(t, ok)
	s.port = address.Port
	require.NoError(t, l.Close())
	run(filepath.Join(bin, "pg_ctl"), "-D", s.dir, "-w", "-l", filepath.Join(s.dir, "log"), "-o", fmt.Sprintf(
		"-c listen_addresses=localhost -c port=%d -c unix_socket_directories=%s -c ssl=on -c ssl_ca_file=clients.crt -c fsync=off", s.port, sockets), "start")
}

// runner returns two functions. run runs a program as a user that can start PostgreSQL and write in the folder. chown makes this user the owner of a
// file.
func runner(t testing.TB, folder string) (run func(name string, args ...string), chown func(path string)) {
	t.Helper()
	var as *syscall.SysProcAttr
	chown = func(string) {}
	if os.Geteuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		require.NoError(t, err, "PostgreSQL does not run as root")
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		require.NoError(t, err)
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		require.NoError(t, err)
		as = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		chown = func(path string) { require.NoError(t, os.Chown(path, int(uid), int(gid))) } //nolint:gosec // G115: they have 32 bits
		chown(folder)
	}
	return func(name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...) //nolint:gosec // G204: a program of PostgreSQL; the context must not end with the test, because a cleanup also runs programs
		cmd.SysProcAttr, cmd.Dir, cmd.Env = as, "/", []string{"LC_ALL=C.UTF-8", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output() // pg_ctl -l redirects the output of the server, so the server keeps no pipe open
		require.NoError(t, err, "%s: %s", name, out)
	}, chown
}

// programsOfPostgres returns the folder with PostgreSQL's programs.
func programsOfPostgres(t testing.TB) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(found)
	found = append([]string{os.Getenv(devdb.EnvPostgresBin), "/var/cache/carve/postgres/bin"}, found...)
	if path, err := exec.LookPath("postgres"); err == nil {
		found = append(found, filepath.Dir(path))
	}
	for _, dir := range found {
		if _, err := os.Stat(filepath.Join(dir, "pg_ctl")); dir != "" && err == nil { //nolint:gosec // G703: the developer chooses the folder
			return dir
		}
	}
	t.Fatal("dbtest: no programs of PostgreSQL; install them with `make deps`")
	return ""
}

// Exec runs statements as the superuser, over the socket.
func (s *Secure) Exec(t testing.TB, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres", filepath.Dir(s.dir), s.port))
	require.NoError(t, err)
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	for _, statement := range statements {
		_, err := c.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}

// URL returns the database's URL over TCP, with parameters such as sslmode.
func (s *Secure) URL(host, password string, parameters url.Values) string {
	u := url.URL{
		Scheme: "postgresql", User: url.UserPassword(SecureUser, password), Host: net.JoinHostPort(host, strconv.Itoa(s.port)), Path: "/carve", RawQuery: parameters.Encode(),
	}
	return u.String()
}
