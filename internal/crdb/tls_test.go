package crdb

import (
	"bytes"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

// secured is a migrated database with TLS, together with the certificate files of a client.
type secured struct {
	*dbtest.Secure
	root, cert, key string
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	dir := t.TempDir()
	s := &secured{Secure: dbtest.NewSecure(t), root: filepath.Join(dir, "ca.crt"), cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key")}
	require.NoError(t, os.WriteFile(s.root, s.CA.PEM(), 0o600))
	s.renew(t)
	require.NoError(t, schema.Migrate(t.Context(), s.url(), schema.MigrateOptions{Regions: []string{"local"}}))
	return s
}

// renew gives the client a new certificate.
func (s *secured) renew(t *testing.T) {
	t.Helper()
	certificate, key, err := s.CA.Issue(devca.Leaf{Name: dbtest.SecureUser})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.cert, certificate, 0o600))
	require.NoError(t, os.WriteFile(s.key, key, 0o600))
}

// url returns the URL of a careful operator: client and server verify each other.
func (s *secured) url() string {
	return s.URL("localhost", dbtest.SecurePassword, url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.root}, "sslcert": {s.cert}, "sslkey": {s.key}})
}

func (s *secured) open(t *testing.T, dsn string, o Options) *Store {
	t.Helper()
	o.Region, o.MaxConnections = "local", 8
	store, err := Open(t.Context(), dsn, o)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return store
}

// serial returns the serial number of the client certificate of a connection.
func serial(t *testing.T, c *pgxpool.Conn) (number string) {
	t.Helper()
	require.NoError(t, c.QueryRow(t.Context(), "select client_serial::text from pg_stat_ssl where ssl and pid = pg_backend_pid()").Scan(&number))
	return number
}

// fresh discards all idle connections, and returns a new connection.
func fresh(t *testing.T, s *Store) *pgxpool.Conn {
	t.Helper()
	s.pool.Reset()
	c, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	t.Cleanup(c.Release)
	return c
}

func TestDatabaseIsReachedOverTLS(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	other, err := devca.New("another")
	require.NoError(t, err)
	wrong := filepath.Join(t.TempDir(), "wrong.crt")
	require.NoError(t, os.WriteFile(wrong, other.PEM(), 0o600))
	full := url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.root}, "sslcert": {s.cert}, "sslkey": {s.key}}
	with := func(name, value string) url.Values {
		v := url.Values{}
		for k := range full {
			v.Set(k, full.Get(k))
		}
		v.Set(name, value)
		return v
	}
	for name, tc := range map[string]struct {
		host, password string
		parameters     url.Values
		wrong          string
	}{
		"WithEverythingChecked":        {"localhost", dbtest.SecurePassword, full, ""},
		"NotForAnotherCA":              {"localhost", dbtest.SecurePassword, with("sslrootcert", wrong), "certificate signed by unknown authority"},
		"NotForAnotherHost":            {"127.0.0.1", dbtest.SecurePassword, full, "cannot validate certificate for 127.0.0.1"},
		"NotWithoutTLS":                {"localhost", dbtest.SecurePassword, url.Values{"sslmode": {"disable"}}, "no encryption"},
		"NotWithTheWrongPassword":      {"localhost", "hunter3-of-the-test", full, "password authentication failed"},
		"NotWithoutAClientCertificate": {"localhost", dbtest.SecurePassword, url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.root}}, "valid client certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := schema.Check(t.Context(), s.URL(tc.host, tc.password, tc.parameters))
			if tc.wrong == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.wrong)
			require.NotContains(t, err.Error(), tc.password)
		})
	}
	t.Run("MissingFileIsReportedWithoutThePassword", func(t *testing.T) {
		t.Parallel()
		err := schema.Check(t.Context(), s.URL("localhost", dbtest.SecurePassword, with("sslcert", filepath.Join(t.TempDir(), "nowhere"))))
		require.ErrorContains(t, err, "database URL is not valid")
		require.NotContains(t, err.Error(), dbtest.SecurePassword)
	})
}

func TestRenewedCertificatesAreUsedForNewConnections(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	var logs bytes.Buffer
	store := s.open(t, s.url(), Options{Log: slog.New(slog.NewTextHandler(&logs, nil))})
	before, err := store.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer before.Release()
	first := serial(t, before)
	require.Equal(t, first, serial(t, fresh(t, store)))

	s.renew(t)
	second := serial(t, fresh(t, store))
	require.NotEqual(t, first, second)
	require.Equal(t, first, serial(t, before), "a connection that is open stays")

	require.NoError(t, os.WriteFile(s.key, []byte("half of a renewal"), 0o600))
	require.Equal(t, second, serial(t, fresh(t, store)), "the last that could be used")
	store.stop() // its background work also writes to the log
	require.Contains(t, logs.String(), "cannot use the renewed credentials")
	require.NotContains(t, logs.String(), dbtest.SecurePassword)
}

func TestRenewedDatabaseCAIsUsedForNewConnections(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	store := s.open(t, s.url(), Options{})
	other, err := devca.New("another")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.root, other.PEM(), 0o600))
	store.pool.Reset()
	_, err = store.pool.Acquire(t.Context())
	require.ErrorContains(t, err, "certificate signed by unknown authority")
	require.NoError(t, os.WriteFile(s.root, append(other.PEM(), s.CA.PEM()...), 0o600))
	fresh(t, store)
}

func TestRenewedPasswordIsUsedForNewConnections(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	file := filepath.Join(t.TempDir(), "url")
	write := func(password string) {
		dsn := s.URL("localhost", password, url.Values{"sslmode": {"verify-full"}, "sslrootcert": {s.root}, "sslcert": {s.cert}, "sslkey": {s.key}})
		require.NoError(t, os.WriteFile(file, []byte(dsn+"\n"), 0o600))
	}
	write(dbtest.SecurePassword)
	dsn, err := dial.URLFromFile(file)
	require.NoError(t, err)
	var logs bytes.Buffer
	store := s.open(t, dsn, Options{URLFile: file, Log: slog.New(slog.NewTextHandler(&logs, nil))})

	const next = "hunter3-of-the-test"
	s.Exec(t, "ALTER ROLE "+dbtest.SecureUser+" PASSWORD '"+next+"'")
	store.pool.Reset()
	_, err = store.pool.Acquire(t.Context())
	require.ErrorContains(t, err, "password authentication failed", "not in the file yet")
	write(next)
	fresh(t, store)

	for what, content := range map[string]string{
		"another database is named": "postgresql://carve:" + next + "@db.example.com:26257/carve?sslmode=verify-full", "nothing is in it": "",
	} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600), what)
		fresh(t, store)
	}
	store.stop()
	require.NotContains(t, logs.String(), next)
}
