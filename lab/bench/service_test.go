package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
)

// caller sends requests to a server over HTTP.
type caller struct {
	addr, token string
	http        *http.Client
}

// serve starts a server on a database. It returns a caller without credentials.
func serve(t testing.TB, dsn string, flags ...string) *caller {
	t.Helper()
	config, _, err := app.ParseConfig(append([]string{"--listen=127.0.0.1:0", "--database-url=" + dsn, "--request-timeout=60s", "--log-level=error"}, flags...), nil)
	require.NoError(t, err)
	a, err := app.Start(t.Context(), config, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	return &caller{addr: a.Addr(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
}

// as returns another caller of the same server.
func (c *caller) as(token string) *caller { return &caller{c.addr, token, c.http} }

// bootstrap returns the token of a platform admin.
func bootstrap(t testing.TB, dsn string) string {
	t.Helper()
	token, err := app.Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	return token
}

// send sends a request and returns the status. It decodes the body into into, unless into is nil.
func (c *caller) send(ctx context.Context, method, path string, body, into any) (status int, err error) {
	var raw []byte
	if body != nil {
		if raw, err = json.Marshal(body); err != nil {
			return 0, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://"+c.addr+"/v1/projects"+path, bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	return resp.StatusCode, err
}

// create makes an object and requires success.
func (c *caller) create(t testing.TB, method, path string, body, into any) {
	t.Helper()
	status, err := c.send(t.Context(), method, path, body, into)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, status, path)
}

type obj = map[string]any

// settle makes a project with a pool. It returns a caller with an API key of the project.
func (c *caller) settle(t testing.TB, n int) (project string, _ *caller) {
	t.Helper()
	project = fmt.Sprintf("tenant-%d", n)
	c.create(t, http.MethodPost, "", obj{"metadata": obj{"name": project}}, nil)
	c.create(t, http.MethodPost, "/"+project+"/pools", obj{
		"metadata": obj{"name": "default"}, "spec": obj{"cidr": "10.0.0.0/16", "allocation": obj{"strategy": "FirstFit"}},
	}, nil)
	return project, c.as(c.key(t, project, "bench"))
}

// key makes an API key that may claim.
func (c *caller) key(t testing.TB, project, name string) (token string) {
	t.Helper()
	var made struct{ Token string }
	c.create(t, http.MethodPost, "/"+project+"/api-keys", obj{"metadata": obj{"name": name}, "spec": obj{"role": "consumer"}}, &made)
	require.NotEmpty(t, made.Token)
	return made.Token
}

// claim requests an address and returns the status.
func (c *caller) claim(ctx context.Context, project, name string) (status int, err error) {
	return c.send(ctx, http.MethodPost, "/"+project+"/claims", obj{
		"metadata": obj{"name": name}, "spec": obj{"poolRef": obj{"name": "default"}, "prefixLength": 32},
	}, nil)
}
