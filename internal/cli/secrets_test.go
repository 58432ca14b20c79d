package cli_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/devca"
)

func TestDatabaseURLIsReadFromAFile(t *testing.T) {
	t.Parallel()
	d := operating(t)
	file := filepath.Join(t.TempDir(), "url")
	require.NoError(t, os.WriteFile(file, []byte(dbtest.New(t)+"\n"), 0o600))
	d.done("migrate", "-q", "--database-url-file", file)
	d.env["CARVE_DATABASE_URL_FILE"] = file
	require.Contains(t, d.done("audit").out, "audit clean")

	d.env["CARVE_DATABASE_URL"] = "postgres://carve:hunter2@db/carve"
	r := d.run("audit")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "set only one of them")
	require.NotContains(t, r.err, "hunter2")
	r = d.run("audit", "--database-url-file", "postgres://carve:hunter2@db/carve")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "looks like a database URL")
	require.NotContains(t, r.err, "hunter2")
	require.Contains(t, d.run("audit", "--database-url-file", file, "--database-url", "x").err, "database-url-file")
}

func TestAPIKeyIsReadFromTheFileInAVariable(t *testing.T) {
	t.Parallel()
	d := answering(t)
	key := "carve_0123456789abcdef0123456789abcdef_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	var sent string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
	d.env = map[string]string{"CARVE_SERVER": s.URL, "CARVE_API_KEY_FILE": file}
	d.run("whoami")
	require.Equal(t, "Bearer "+key, sent)
	d.env["CARVE_API_KEY"] = key
	r := d.run("whoami")
	require.Equal(t, 2, r.code)
	require.Contains(t, r.err, "CARVE_API_KEY_FILE are both set")
	require.NotContains(t, r.err, key)
}

func TestClientCertificateIsSentOnRequest(t *testing.T) {
	t.Parallel()
	ca, err := devca.New("ours")
	require.NoError(t, err)
	dir := t.TempDir()
	files := map[string]string{}
	for name, l := range map[string]devca.Leaf{"server": {Hosts: []string{"127.0.0.1"}}, "client": {Name: "team-a"}} {
		certificate, key, err := ca.Issue(l)
		require.NoError(t, err)
		for ending, content := range map[string][]byte{".crt": certificate, ".key": key} {
			files[name+ending] = filepath.Join(dir, name+ending)
			require.NoError(t, os.WriteFile(files[name+ending], content, 0o600))
		}
	}
	files["ca"] = filepath.Join(dir, "ca.crt")
	require.NoError(t, os.WriteFile(files["ca"], ca.PEM(), 0o600))
	pair, err := tls.LoadX509KeyPair(files["server.crt"], files["server.key"])
	require.NoError(t, err)
	who := make(chan string, 8)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who <- r.TLS.PeerCertificates[0].Subject.CommonName
		w.WriteHeader(http.StatusTeapot)
	}))
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool()}
	s.StartTLS()
	t.Cleanup(s.Close)
	d := answering(t)
	d.env = map[string]string{"CARVE_SERVER": s.URL}
	d.run("whoami", "--ca-file", files["ca"], "--client-cert", files["client.crt"], "--client-key", files["client.key"])
	require.Equal(t, "team-a", <-who)
	d.env["CARVE_CLIENT_CERT"], d.env["CARVE_CLIENT_KEY"] = files["client.crt"], files["client.key"]
	d.run("whoami", "--ca-file", files["ca"])
	require.Equal(t, "team-a", <-who)
	delete(d.env, "CARVE_CLIENT_KEY")
	require.Contains(t, d.run("whoami", "--ca-file", files["ca"]).err, "must be given together")
	d.env["CARVE_CLIENT_KEY"] = files["server.key"]
	require.Contains(t, d.run("whoami", "--ca-file", files["ca"]).err, "cannot use the client's certificate")
}
