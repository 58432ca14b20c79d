package app

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client/webhook"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// log is the log of a server. A test may read it while the server writes it.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// The client package must be able to verify and read a delivery of the server. The secret must not be in the server's log.
func TestWebhookDeliveryIsVerifiedByTheClient(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600))
	config, _, err := ParseConfig([]string{
		"--listen=127.0.0.1:0", "--database-url=" + dbtest.New(t), "--auth=dev", "--log-level=debug", "--webhook-key-file=" + key, "--webhook-networks=127.0.0.0/8,::1/128",
	}, nil)
	require.NoError(t, err)
	var logged log
	a, err := Start(t.Context(), config, &logged)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	c := tenant{t: t, base: "http://" + a.Addr()}
	c.furnish("team")

	secret := make(chan string, 1)
	got := make(chan *webhook.Delivery, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		known := <-secret
		secret <- known
		d, wrong := webhook.Verify([]string{known}, r.Header, body, webhook.DefaultTolerance)
		if err != nil || wrong != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		select {
		case got <- d:
		default:
		}
	}))
	t.Cleanup(receiver.Close)
	hooks := "/v1/projects/team/webhooks"
	made := c.must(http.StatusCreated, http.MethodPost, hooks, map[string]any{
		"metadata": map[string]any{"name": "inventory"}, "spec": map[string]any{"url": receiver.URL + "/carve", "resourceKinds": []string{"IPClaim"}},
	})
	known, _ := made["secret"].(string)
	require.NotEmpty(t, known)
	secret <- known
	c.must(http.StatusCreated, http.MethodPost, "/v1/projects/team/claims", map[string]any{
		"metadata": map[string]any{"name": "web"}, "spec": map[string]any{"poolRef": map[string]any{"name": "net"}, "prefixLength": 28},
	})
	select {
	case d := <-got:
		require.Equal(t, webhook.Changes, d.Message.Type)
		require.Equal(t, []string{"inventory", "team"}, []string{d.Message.Webhook, d.Message.Project})
		require.Len(t, d.Message.Changes, 1)
		change := d.Message.Changes[0]
		require.Equal(t, []string{"IPClaim", "web", "Put"}, []string{string(change.Kind), change.Name, string(change.Type)})
		require.Contains(t, string(change.Object), `"phase":"Bound"`)
		c.must(http.StatusOK, http.MethodGet, "/v1/projects/team/changes?after="+d.Message.Cursor, nil)
	case <-time.After(time.Minute):
		require.Fail(t, "nothing was sent")
	}
	c.must(http.StatusOK, http.MethodGet, hooks+"/inventory", nil)
	logged.mu.Lock()
	defer logged.mu.Unlock()
	require.NotContains(t, logged.text.String(), strings.TrimPrefix(known, "whsec_"))
}

func TestInvalidWebhookKeyFileIsRefused(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(short, []byte("short\n"), 0o600))
	for _, name := range []string{short, short + "-not-there"} {
		_, err := (&App{}).webhookKey(Config{WebhookKeyFile: name})
		require.ErrorContains(t, err, "--webhook-key-file")
	}
	key, err := (&App{}).webhookKey(Config{})
	require.NoError(t, err)
	require.Nil(t, key)
	_, _, err = ParseConfig([]string{"--auth=dev", "--webhook-networks=10.0.0.1"}, nil)
	require.ErrorContains(t, err, "is not a CIDR")
}
