package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// issuer is an OpenID Connect issuer that listens on loopback.
type issuer struct {
	url string
	key *ecdsa.PrivateKey
	id  string
	now atomic.Pointer[oidctest.Server]
}

func startIssuer(t testing.TB) *issuer {
	t.Helper()
	is := &issuer{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { is.now.Load().ServeHTTP(w, r) }))
	t.Cleanup(server.Close)
	is.url = server.URL
	is.rotate(t, "first")
	return is
}

// rotate replaces the issuer's key.
func (is *issuer) rotate(t testing.TB, id string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	is.key, is.id = private, id
	s := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: private.Public(), KeyID: id, Algorithm: "ES256"}}}
	s.SetIssuer(is.url)
	is.now.Store(s)
}

// token returns a token for a subject. claims are added to the default claims of the token, or replace them.
func (is *issuer) token(t testing.TB, subject string, claims obj) string {
	t.Helper()
	all := obj{"iss": is.url, "aud": "carve", "sub": subject, "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	text, err := json.Marshal(all)
	require.NoError(t, err)
	return oidctest.SignIDToken(is.key, is.id, "ES256", string(text))
}

// Users and programs have tokens from an issuer. Their roles come from the token's claims and from memberships.
func TestOIDC(t *testing.T) {
	t.Parallel()
	is := startIssuer(t)
	file := filepath.Join(t.TempDir(), "oidc.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `
issuers:
  - name: corp
    url: %s
    audience: carve
    roles:
      - {claim: groups, value: netops, project: platform, role: admin}
      - {claim: groups, pattern: '^carve-(?P<project>[a-z0-9-]+)-(?P<role>viewer|consumer|provider|admin)$'}
`, is.url), 0o600))
	flags := append([]string{"--auth=keys,oidc", "--oidc-config=" + file}, unlimited[1:]...)
	dsn := database(t)
	w := newWorld(t, newCaller(serve(t, dsn, flags...)), dsn)
	root := w.as(bootstrap(t, dsn))
	root.newProject(t, project)
	other := newCaller(serve(t, dsn, flags...))
	whoami := func(c *caller) client.Whoami {
		return decode[client.Whoami](t, c.ok(t, c.do(t, http.MethodGet, "/v1/whoami", nil)))
	}
	inGroups := func(groups ...string) obj { return obj{"groups": groups} }

	t.Run("RolesByClaim", func(t *testing.T) {
		c := w.as(is.token(t, "dora", inGroups("staff", "carve-acme-provider")))
		require.Equal(t, client.Whoami{Subject: "corp:dora", Method: "oidc", Roles: []client.RoleInProject{{Project: project, Role: "provider"}}}, whoami(c))
		pool := decode[client.IPPool](t, c.created(t, c.do(t, http.MethodPost, at("pools"), named("p", obj{"cidr": "10.0.0.0/16"}))))
		require.Equal(t, "corp:dora", pool.Metadata.CreatedBy)
		c.refused(t, c.do(t, http.MethodGet, at("members"), nil), "permission_denied")
		c.refused(t, c.do(t, http.MethodGet, "/v1/projects/platform", nil), "not_found")
	})
	t.Run("PlatformAdminByClaim", func(t *testing.T) {
		c := w.as(is.token(t, "root", inGroups("netops")))
		require.True(t, whoami(c).PlatformAdmin)
		c.newProject(t, "other")
	})
	t.Run("RolesByMembership", func(t *testing.T) {
		c, there := w.as(is.token(t, "alice", nil)), other.as(is.token(t, "alice", nil))
		require.Empty(t, whoami(c).Roles)
		c.refused(t, c.do(t, http.MethodGet, at("pools"), nil), "not_found")
		put := func(role string) {
			t.Helper()
			a := root.do(t, http.MethodPut, at("members", "corp:alice"), obj{"spec": obj{"role": role}})
			require.True(t, a.ok(), string(a.body))
		}
		has := func(role client.Role) func() bool {
			return func() bool {
				return slices.Equal(whoami(c).Roles, []client.RoleInProject{{Project: project, Role: role}}) && slices.Equal(whoami(there).Roles, whoami(c).Roles)
			}
		}
		put("consumer")
		heededWithin(t, has("consumer"))
		there.refused(t, there.do(t, http.MethodDelete, at("pools", "p"), nil), "permission_denied")
		claim := decode[client.IPClaim](t, there.created(t, there.postClaim(t, "c", from("p", 24))))
		require.Equal(t, "corp:alice", claim.Metadata.CreatedBy)
		t.Run("TheLargerOfClaimAndMembershipCounts", func(t *testing.T) {
			require.Equal(t, []client.RoleInProject{{Project: project, Role: "provider"}}, whoami(w.as(is.token(t, "alice", inGroups("carve-acme-provider")))).Roles)
			require.Equal(t, []client.RoleInProject{{Project: project, Role: "consumer"}}, whoami(w.as(is.token(t, "alice", inGroups("carve-acme-viewer")))).Roles)
		})
		root.deleted(t, root.do(t, http.MethodDelete, at("members", "corp:alice"), nil))
		heededWithin(t, func() bool { return len(whoami(c).Roles)+len(whoami(there).Roles) == 0 })
	})
	t.Run("TheTrailHasSubjectAndMethod", func(t *testing.T) {
		events := all[client.AuditEvent](t, root, at("audit-events")+"?subject=corp:alice&outcome=ok")
		require.Len(t, events, 1, "%v", events)
		require.Equal(t, []any{"createClaim", client.AuthMethod("oidc")}, []any{events[0].Operation, events[0].Method})
	})
	t.Run("ARoleInAMissingProjectIsIgnored", func(t *testing.T) {
		c := w.as(is.token(t, "erin", inGroups("carve-nowhere-admin")))
		c.refused(t, c.do(t, http.MethodGet, in("nowhere", "pools"), nil), "not_found")
		require.Empty(t, all[obj](t, c, "/v1/projects"))
	})
	t.Run("InvalidTokensAreRefused", func(t *testing.T) {
		good := is.token(t, "dora", inGroups("carve-acme-provider"))
		send := func(token string) answer {
			return w.as(token).do(t, http.MethodGet, "/v1/projects/"+project, nil, probe)
		}
		w.ok(t, send(good))
		first := send("carve_00000000000000000000000000000000_" + strings.Repeat("a", 52))
		w.refused(t, first, "unauthenticated")
		forger := &issuer{url: is.url}
		forger.rotate(t, is.id)
		for what, token := range map[string]string{
			"expired":          is.token(t, "dora", obj{"groups": []string{"netops"}, "exp": time.Now().Add(-time.Hour).Unix()}),
			"in the future":    is.token(t, "dora", obj{"groups": []string{"netops"}, "nbf": time.Now().Add(time.Hour).Unix()}),
			"another audience": is.token(t, "dora", obj{"groups": []string{"netops"}, "aud": "elsewhere"}),
			"another issuer":   is.token(t, "dora", obj{"groups": []string{"netops"}, "iss": is.url + "/"}),
			"another key":      forger.token(t, "dora", inGroups("netops")),
			"cut":              good[:len(good)-4],
			"a key's subject":  is.token(t, "acme/of-admin", inGroups("netops")),
			"without subject":  is.token(t, "", inGroups("netops")),
		} {
			require.Equal(t, whole(first), whole(send(token)), what)
		}
	})
	t.Run("ARotatedKeyIsFetched", func(t *testing.T) {
		is.rotate(t, "second")
		require.Equal(t, "corp:dora", whoami(w.as(is.token(t, "dora", nil))).Subject)
	})
	t.Run("APIKeysStillWork", func(t *testing.T) {
		require.Equal(t, client.AuthMethod("api-key"), whoami(root).Method)
	})
}
