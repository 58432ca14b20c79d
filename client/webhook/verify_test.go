package webhook_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/webhook"
	"github.com/carve-ipam/carve/internal/ipam"
	sending "github.com/carve-ipam/carve/internal/webhook"
)

var update = flag.Bool("update", false, "write the vector")

// vector is a request in the form in which a server sends it. The tests of the TypeScript client use the same vectors.
type vector struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

const body = `{"type":"changes","webhook":"inventory","project":"team-a","changes":[` +
	`{"kind":"IPClaim","name":"web-eu","type":"Put","object":{"metadata":{"name":"web-eu","labels":{"wohin":"Köln"}}},` +
	`"at":"2026-03-02T09:29:59Z","operation":"createClaim"},` +
	`{"kind":"IPClaim","name":"web-us","type":"Delete","at":"2026-03-02T09:30:00Z","operation":""}],"cursor":"AQIDBA"}`

var (
	secret = sending.Secret([]byte("the key of a server, of 32 bytes"), ipam.ID{1})
	second = sending.Secret([]byte("the key of a server, of 32 bytes"), ipam.ID{2})
)

// deliver sends a body with the server's own client and returns the request that a receiver gets.
func deliver(t *testing.T, at time.Time, body string) vector {
	t.Helper()
	v := vector{Secret: secret, Headers: map[string]string{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		v.Body = string(got)
		for _, name := range []string{"Content-Type", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
			v.Headers[name] = r.Header.Get(name)
		}
	}))
	defer receiver.Close()
	sender := sending.NewClient(sending.Networks{netip.MustParsePrefix("127.0.0.0/8")})
	outcome := sender.Send(t.Context(), sending.Delivery{
		URL: receiver.URL, ID: "0195c2a4-7b10-7c3e-8f21-5d6e7f809112", Secret: secret, At: at, Body: []byte(body),
	})
	require.True(t, outcome.Delivered(), outcome.Reason)
	return v
}

// header returns the headers of the vector with changes. If a changed value is empty, the header is removed.
func (v vector) header(changes ...string) http.Header {
	h := http.Header{}
	for name, value := range v.Headers {
		h.Set(name, value)
	}
	for i := 0; i < len(changes); i += 2 {
		h.Set(changes[i], changes[i+1])
	}
	return h
}

func TestVectorEqualsTheServersRequest(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "delivery.json")
	at := time.Date(2026, 3, 2, 9, 30, 5, 0, time.UTC)
	sent := deliver(t, at, body)
	if *update {
		text, err := json.MarshalIndent(sent, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o600))
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var v vector
	require.NoError(t, json.Unmarshal(text, &v))
	require.Equal(t, v, sent)

	d, err := webhook.Verify([]string{v.Secret}, v.header(), []byte(v.Body), time.Since(at)+time.Minute)
	require.NoError(t, err)
	require.Equal(t, "0195c2a4-7b10-7c3e-8f21-5d6e7f809112", d.ID)
	require.Equal(t, at, d.SentAt)
	require.Equal(t, webhook.Message{
		Type: webhook.Changes, Webhook: "inventory", Project: "team-a", Cursor: "AQIDBA",
		Changes: []client.Change{
			{
				Kind: client.ChangeKindIPClaim, Name: "web-eu", Type: client.ChangeTypePut, Operation: "createClaim", At: at.Add(-6 * time.Second),
				Object: json.RawMessage(`{"metadata":{"name":"web-eu","labels":{"wohin":"Köln"}}}`),
			},
			{Kind: client.ChangeKindIPClaim, Name: "web-us", Type: client.ChangeTypeDelete, At: at.Add(-5 * time.Second)},
		},
	}, d.Message)
}

func TestVerifyAcceptsUnknownMessageTypes(t *testing.T) {
	t.Parallel()
	for _, kind := range []webhook.MessageType{webhook.Resync, "of a later server"} {
		v := deliver(t, time.Now(), `{"type":"`+string(kind)+`","webhook":"inventory","project":"team-a","cursor":"AQ","more":1}`)
		d, err := webhook.Verify([]string{secret}, v.header(), []byte(v.Body), webhook.DefaultTolerance)
		require.NoError(t, err)
		require.Equal(t, webhook.Message{Type: kind, Webhook: "inventory", Project: "team-a", Cursor: "AQ"}, d.Message)
	}
	v := deliver(t, time.Now(), "no JSON")
	_, err := webhook.Verify([]string{secret}, v.header(), []byte(v.Body), webhook.DefaultTolerance)
	var syntax *json.SyntaxError
	require.ErrorAs(t, err, &syntax)
}

func TestVerifyRefusesAForgedRequest(t *testing.T) {
	t.Parallel()
	v := deliver(t, time.Now(), body)
	signature := v.Headers["Webhook-Signature"]
	check := func(secrets []string, headers http.Header, body string) error {
		d, err := webhook.Verify(secrets, headers, []byte(body), webhook.DefaultTolerance)
		require.Equal(t, err == nil, d != nil)
		return err
	}
	own := []string{secret}
	require.NoError(t, check([]string{second, secret}, v.header(), v.Body), "one of several secrets")
	require.NoError(t, check(own, v.header("Webhook-Signature", "v1,AAAA v1a,BBBB "+signature), v.Body), "one of several signatures")
	for name, err := range map[string]error{
		"no secret":            check(nil, v.header(), v.Body),
		"another secret":       check([]string{second}, v.header(), v.Body),
		"another body":         check(own, v.header(), v.Body+" "),
		"no headers":           check(own, http.Header{}, v.Body),
		"no id":                check(own, v.header("Webhook-Id", ""), v.Body),
		"another id":           check(own, v.header("Webhook-Id", "other"), v.Body),
		"no time":              check(own, v.header("Webhook-Timestamp", ""), v.Body),
		"another time":         check(own, v.header("Webhook-Timestamp", strconv.FormatInt(time.Now().Unix()+9, 10)), v.Body),
		"a time that is none":  check(own, v.header("Webhook-Timestamp", "now"), v.Body),
		"no signature":         check(own, v.header("Webhook-Signature", ""), v.Body),
		"of another version":   check(own, v.header("Webhook-Signature", "v2"+signature[2:]), v.Body),
		"without its version":  check(own, v.header("Webhook-Signature", signature[3:]), v.Body),
		"a part of it":         check(own, v.header("Webhook-Signature", signature[:20]), v.Body),
		"an empty signature":   check(own, v.header("Webhook-Signature", "v1,"), v.Body),
		"as a list with comma": check(own, v.header("Webhook-Signature", "v1,AAAA,"+signature), v.Body),
	} {
		require.ErrorIs(t, err, webhook.ErrUntrusted, name)
	}
	for _, none := range []string{"", "whsec_", "whsec_AAAA", "whsec_?", "secret"} {
		err := check([]string{secret, none}, v.header(), v.Body)
		require.Error(t, err, "a secret that everybody could guess is no secret")
		require.False(t, errors.Is(err, webhook.ErrUntrusted) || errors.Is(err, webhook.ErrTime))
	}
}

func TestVerifyRefusesATimeOutsideTheTolerance(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]error{
		4 * time.Minute: nil, 6 * time.Minute: webhook.ErrTime, -4 * time.Minute: nil, -6 * time.Minute: webhook.ErrTime,
	} {
		v := deliver(t, time.Now().Add(-late), body)
		_, err := webhook.Verify([]string{secret}, v.header(), []byte(v.Body), webhook.DefaultTolerance)
		require.ErrorIs(t, err, want)
	}
	v := deliver(t, time.Unix(1<<62, 0), body)
	_, err := webhook.Verify([]string{secret}, v.header(), []byte(v.Body), webhook.DefaultTolerance)
	require.ErrorIs(t, err, webhook.ErrTime)
}
