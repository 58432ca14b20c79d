package cli_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// apiServer is a fake Kubernetes API with one Secret.
type apiServer struct {
	*httptest.Server
	account string // directory of the pod's service account

	mu      sync.Mutex
	data    map[string][]byte
	version string // the resource version of the Secret
	refused bool   // whether the API refuses patches
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	a := &apiServer{version: "7", account: t.TempDir()}
	a.Server = httptest.NewTLSServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	for name, content := range map[string][]byte{
		"token": []byte("pod-token\n"), "namespace": []byte("network"),
		"ca.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate().Raw}),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(a.account, name), content, 0o600))
	}
	return a
}

type secretObject struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Data map[string][]byte `json:"data"`
}

func (a *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	var o secretObject
	switch {
	case r.Header.Get("Authorization") != "Bearer pod-token" || r.URL.Path != "/api/v1/namespaces/network/secrets/first-key":
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"secrets is forbidden"}`))
		return
	case r.Method == http.MethodPatch:
		err := json.NewDecoder(r.Body).Decode(&o)
		if err != nil || a.refused || o.Metadata.ResourceVersion != a.version || r.Header.Get("Content-Type") != "application/merge-patch+json" {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"message":"the object has been modified"}`))
			return
		}
		a.data = o.Data
	}
	o.Metadata.ResourceVersion, o.Data = a.version, a.data
	_ = json.NewEncoder(w).Encode(o)
}

func TestBootstrapIntoASecretWritesOnce(t *testing.T) {
	t.Parallel()
	a := newAPIServer(t)
	d := answering(t)
	made := 0
	d.database.Bootstrap = func(context.Context, string, string) (string, error) {
		made++
		return apiKey, nil
	}
	args := []string{"bootstrap", "--database-url", "postgres://db/carve", "--service-account", a.account, "--into-secret"}
	r := d.run(append(args, "first-key")...)
	require.Equal(t, 2, r.code)
	assert.Contains(t, r.err, "in a pod")

	host, port, err := net.SplitHostPort(a.Listener.Addr().String())
	require.NoError(t, err)
	d.env["KUBERNETES_SERVICE_HOST"], d.env["KUBERNETES_SERVICE_PORT"] = host, port
	r = d.run(append(args, "another")...)
	require.Equal(t, 1, r.code)
	assert.Contains(t, r.err, "secrets is forbidden")
	assert.Zero(t, made, "no key is made that cannot be kept")

	a.refused = true
	r = d.run(append(args, "first-key")...)
	require.Equal(t, 1, r.code)
	assert.Contains(t, r.err, "revoke it")
	assert.NotContains(t, r.out+r.err, apiKey)
	a.refused = false

	r = d.run(append(args, "first-key")...)
	require.Zero(t, r.code, r.err)
	assert.NotContains(t, r.out+r.err, apiKey)
	assert.Equal(t, map[string][]byte{"api-key": []byte(apiKey)}, a.data)
	assert.Equal(t, 2, made)

	r = d.run(append(args, "first-key")...)
	require.Zero(t, r.code, r.err)
	assert.Contains(t, r.err, "nothing changed")
	assert.Equal(t, 2, made, "what is there is kept")
}
