package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// provider is an OpenID Connect issuer that signs in every user without a question. It checks the requests of the console's client strictly.
type provider struct {
	*oidctest.Server

	url    string
	signs  *ecdsa.PrivateKey
	secret string

	mu     sync.Mutex
	codes  map[string]url.Values // parameters of the authorization requests, by code
	claims map[string]any        // claims of the next token; they override the defaults
	tokens map[string]string     // issued ID tokens, by code
}

func startProvider(t *testing.T, secret string) *provider {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	p := &provider{signs: private, secret: secret, codes: map[string]url.Values{}, tokens: map[string]string{}, Server: &oidctest.Server{
		PublicKeys: []oidctest.PublicKey{{PublicKey: private.Public(), KeyID: "k", Algorithm: "ES256"}},
	}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	p.url = s.URL
	p.SetIssuer(s.URL)
	return p
}

// ServeHTTP implements http.Handler.
func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch r.URL.Path {
	case "/auth":
		code := rand.Text()
		p.codes[code] = r.URL.Query()
		back := r.URL.Query().Get("redirect_uri") + "?" + url.Values{"code": {code}, "state": {r.URL.Query().Get("state")}}.Encode()
		http.Redirect(w, r, back, http.StatusFound)
	case "/token":
		p.token(w, r)
	default:
		p.Server.ServeHTTP(w, r)
	}
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	asked, ok := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code")) // a code is valid only once
	id, secret, basic := r.BasicAuth()
	if p.secret == "" {
		id, basic = r.FormValue("client_id"), true
	}
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || !basic || id != "carve-console" || secret != p.secret || r.FormValue("redirect_uri") != asked.Get("redirect_uri") ||
		asked.Get("code_challenge_method") != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != asked.Get("code_challenge") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
		return
	}
	claims := map[string]any{
		"iss": p.url, "aud": "carve-console", "sub": "alice", "exp": time.Now().Add(time.Hour).Unix(), "nonce": asked.Get("nonce"), "groups": []string{"netops"},
	}
	maps.Copy(claims, p.claims)
	text, _ := json.Marshal(claims)
	token := oidctest.SignIDToken(p.signs, "k", "ES256", string(text))
	p.tokens[r.FormValue("code")] = token
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "opaque-access", "token_type": "Bearer", "expires_in": 3600, "id_token": token, "refresh_token": "opaque-refresh"})
}

func (p *provider) next(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = claims
}

// config returns a configuration file that enables the console's sign-in at this issuer.
func (p *provider) config(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	client := "signIn: {clientId: carve-console, scopes: [groups]}"
	if p.secret != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(p.secret+"\n"), 0o600))
		client = "signIn: {clientId: carve-console, clientSecretFile: secret}"
	}
	file := filepath.Join(dir, "oidc.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`issuers:
  - name: corp
    url: `+p.url+`
    audience: carve
    `+client+`
    roles:
      - {claim: groups, value: netops, project: platform, role: admin}
`), 0o600))
	return file
}

// there requests a sign-in and follows the redirect to the issuer. It returns the URL to which the issuer redirects the browser.
func (b *browser) there(login string) *url.URL {
	b.t.Helper()
	w := b.ask(http.MethodGet, login, "", "X-Carve-Console", "")
	require.Equal(b.t, http.StatusSeeOther, w.StatusCode, w.text)
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, w.Header.Get("Location"), http.NoBody)
	require.NoError(b.t, err)
	back, err := b.client.Do(r)
	require.NoError(b.t, err)
	require.NoError(b.t, back.Body.Close())
	u, err := back.Location()
	require.NoError(b.t, err)
	return u
}

const login = "/console/login?issuer=corp&return=/console/pools"

func TestSignInAtAnIssuer(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"", "the-secret-of-the-client"} {
		p := startProvider(t, secret)
		dsn := dbtest.New(t)
		a, logs := consoleServer(t, dsn, "--auth=oidc", "--oidc-config="+p.config(t))
		b := newBrowser(t, "http://"+a.Addr())
		require.JSONEq(t, `{"signedIn":false,"methods":["oidc"],"issuers":[{"name":"corp"}]}`, b.ask(http.MethodGet, "/console/session", "").text)
		back := b.there(login)
		require.Equal(t, "/console/callback", back.Path)
		attempt := b.cookies["carve-signin"]
		w := b.ask(http.MethodGet, back.RequestURI(), "", "X-Carve-Console", "")
		require.Equal(t, http.StatusSeeOther, w.StatusCode, w.text)
		require.Equal(t, "/console/pools", w.Header.Get("Location"))
		require.NotContains(t, b.cookies, "carve-signin")
		b.may(http.StatusOK)
		who := b.ask(http.MethodGet, "/console/session", "")
		require.Equal(t, "corp:alice", who.body["subject"])
		ends, err := time.Parse(time.RFC3339, who.body["expiresAt"].(string))
		require.NoError(t, err)
		require.WithinRange(t, ends, time.Now().Add(50*time.Minute), time.Now().Add(time.Hour+time.Second), "no later than the token")
		require.Equal(t, http.StatusOK, b.ask(http.MethodGet, "/v1/projects/platform", "").StatusCode, "the roles of the rules")

		again := b.ask(http.MethodGet, back.RequestURI(), "", "X-Carve-Console", "")
		require.Equal(t, http.StatusBadRequest, again.StatusCode, "once")
		kept := dumped(dbtest.Dump(t, dbtest.Connect(t, dsn, nil))) + logs.String()
		for _, each := range []string{p.tokens[back.Query().Get("code")], "opaque-access", "opaque-refresh", back.Query().Get("code"), attempt, b.cookies["carve-session"], "the-secret-of-the-client"} {
			require.NotEmpty(t, each)
			require.NotContains(t, kept, each)
		}
		require.Equal(t, http.StatusNoContent, b.ask(http.MethodDelete, "/console/session", "").StatusCode)
		b.may(http.StatusUnauthorized)
	}
}

func TestInvalidIssuerResponsesAreRefused(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "")
	a, logs := consoleServer(t, dbtest.New(t), "--auth=oidc", "--oidc-config="+p.config(t), "--rate-limit-anonymous=1000")
	change := func(name, value string) func(url.Values, *browser) {
		return func(q url.Values, _ *browser) { q.Set(name, value) }
	}
	for name, tc := range map[string]struct {
		status int
		claims map[string]any
		change func(url.Values, *browser)
	}{
		"Good":                {http.StatusSeeOther, nil, nil},
		"AnotherState":        {http.StatusBadRequest, nil, change("state", "x")},
		"NoState":             {http.StatusBadRequest, nil, change("state", "")},
		"AnotherBrowser":      {http.StatusBadRequest, nil, func(_ url.Values, b *browser) { b.cookies = map[string]string{} }},
		"AnotherSignIn":       {http.StatusBadRequest, nil, func(_ url.Values, b *browser) { b.there(login) }},
		"NonsenseCookie":      {http.StatusBadRequest, nil, func(_ url.Values, b *browser) { b.cookies["carve-signin"] = "bm9uc2Vuc2U" }},
		"AnotherCode":         {http.StatusUnauthorized, nil, change("code", "x")},
		"NoCode":              {http.StatusUnauthorized, nil, change("code", "")},
		"Refused":             {http.StatusUnauthorized, nil, change("error", "access_denied")},
		"AnotherIssuer":       {http.StatusUnauthorized, nil, change("iss", "https://evil.example")},
		"TheIssuer":           {http.StatusSeeOther, nil, change("iss", p.url)},
		"AnotherVerifier":     {http.StatusUnauthorized, nil, func(q url.Values, _ *browser) { p.codes[q.Get("code")].Set("code_challenge", "x") }},
		"AnotherNonce":        {http.StatusUnauthorized, map[string]any{"nonce": "x"}, nil},
		"NoNonce":             {http.StatusUnauthorized, map[string]any{"nonce": nil}, nil},
		"AnotherAudience":     {http.StatusUnauthorized, map[string]any{"aud": "carve"}, nil},
		"AnotherParty":        {http.StatusUnauthorized, map[string]any{"aud": []string{"carve-console", "b"}, "azp": "b"}, nil},
		"Expired":             {http.StatusUnauthorized, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}, nil},
		"OfAnotherIssuersURL": {http.StatusUnauthorized, map[string]any{"iss": "https://evil.example"}, nil},
		"NoSubject":           {http.StatusUnauthorized, map[string]any{"sub": ""}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrowser(t, "http://"+a.Addr())
			p.next(tc.claims)
			back := b.there(login)
			q := back.Query()
			if tc.change != nil {
				tc.change(q, b)
			}
			w := b.ask(http.MethodGet, back.Path+"?"+q.Encode(), "", "X-Carve-Console", "")
			require.Equal(t, tc.status, w.StatusCode, w.text)
			if tc.status != http.StatusSeeOther {
				require.Contains(t, w.text, "You are not signed in")
				require.NotContains(t, b.cookies, "carve-session")
				require.NotContains(t, b.cookies, "carve-signin", "it is used up")
				b.may(http.StatusUnauthorized)
			}
		})
	}
	require.NotContains(t, logs.String(), "opaque-access")
}

func TestRedirectToAnIssuer(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "")
	a, _ := consoleServer(t, dbtest.New(t), "--auth=oidc", "--oidc-config="+p.config(t))
	b := newBrowser(t, "http://"+a.Addr())
	w := b.ask(http.MethodGet, "/console/login?issuer=corp&return=https://evil.example/", "", "X-Carve-Console", "")
	require.Equal(t, http.StatusSeeOther, w.StatusCode)
	cookie := w.Cookies()[0]
	require.Equal(t, "carve-signin", cookie.Name)
	require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)
	require.True(t, cookie.HttpOnly)
	require.Equal(t, 600, cookie.MaxAge)
	there, err := w.Location()
	require.NoError(t, err)
	q := there.Query()
	require.Equal(t, "code", q.Get("response_type"))
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	require.Equal(t, "openid groups", q.Get("scope"))
	require.Equal(t, b.base+"/console/callback", q.Get("redirect_uri"))
	require.Len(t, map[string]bool{q.Get("state"): true, q.Get("nonce"): true, q.Get("code_challenge"): true}, 3)
	for _, part := range []string{"state", "nonce", "code_challenge"} {
		require.Len(t, q.Get(part), 43)
		require.NotContains(t, cookie.Value, q.Get(part))
	}
	back := b.there("/console/login?issuer=corp&return=https://evil.example/")
	w = b.ask(http.MethodGet, back.RequestURI(), "", "X-Carve-Console", "")
	require.Equal(t, http.StatusSeeOther, w.StatusCode, w.text)
	require.Equal(t, "/console/", w.Header.Get("Location"), "nowhere else")
}

func TestUnreachableIssuerIsReported(t *testing.T) {
	t.Parallel()
	p := startProvider(t, "")
	file := p.config(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(string(text)+"  - {name: gone, url: "+gone.URL+", audience: carve, signIn: {clientId: a}}\n"), 0o600))
	a, _ := consoleServer(t, dbtest.New(t), "--auth=oidc", "--oidc-config="+file)
	b := newBrowser(t, "http://"+a.Addr())
	for range 2 {
		w := b.ask(http.MethodGet, "/console/login?issuer=gone", "", "X-Carve-Console", "")
		require.Equal(t, http.StatusServiceUnavailable, w.StatusCode, w.text)
		require.Contains(t, w.text, "You are not signed in")
	}
	require.Equal(t, "corp:alice", func() any {
		back := b.there(login)
		b.ask(http.MethodGet, back.RequestURI(), "", "X-Carve-Console", "")
		return b.ask(http.MethodGet, "/console/session", "").body["subject"]
	}(), "the other one does")
}
