package app

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestTokensOfAConfiguredIssuerAreAccepted(t *testing.T) {
	t.Parallel()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	issuer := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: private.Public(), KeyID: "k", Algorithm: "ES256"}}}
	s := httptest.NewServer(issuer)
	t.Cleanup(s.Close)
	issuer.SetIssuer(s.URL)
	token := func(groups string) string {
		return oidctest.SignIDToken(private, "k", "ES256", fmt.Sprintf(
			`{"iss": %q, "aud": "carve", "sub": "alice@example.com", "exp": %d, "groups": [%q]}`, s.URL, time.Now().Add(time.Hour).Unix(), groups))
	}
	file := filepath.Join(t.TempDir(), "oidc.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`issuers:
  - name: corp
    url: `+s.URL+`
    audience: carve
    roles:
      - {claim: groups, value: netops, project: platform, role: admin}
`), 0o600))
	a, _ := launch(t, "--auth=keys,oidc", "--oidc-config="+file, "--database-url="+dbtest.New(t))
	base := "http://" + a.Addr() + "/v1/"

	w := get(t, http.DefaultClient, base+"whoami", token("netops"))
	require.Equal(t, http.StatusOK, w.status, w.body)
	require.Equal(t, "corp:alice@example.com", w.body["subject"])
	require.Equal(t, http.StatusOK, get(t, http.DefaultClient, base+"projects/platform", token("netops")).status)
	require.Equal(t, http.StatusNotFound, get(t, http.DefaultClient, base+"projects/platform", token("sales")).status, "known, with no role")
	require.Equal(t, http.StatusUnauthorized, get(t, http.DefaultClient, base+"projects/platform", token("netops")+"x").status)
}
