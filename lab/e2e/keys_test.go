package e2e

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// staleness is the longest time for which a server may use a cached key or member. The contract promises this limit.
const staleness = 5 * time.Second

// askew is the largest difference between this process's clock and a server's measurement of the database's clock. The measurement is inexact on a
// busy machine.
const askew = 50 * time.Millisecond

// heededWithin requires that all servers apply an acknowledged change within staleness. A request that begins later must not see the earlier state.
// judged reports whether a request saw the change.
func heededWithin(t testing.TB, judged func() bool) {
	t.Helper()
	changed := time.Now()
	for {
		begun := time.Now()
		if judged() {
			return
		}
		require.Less(t, begun.Sub(changed), staleness, "judged as before")
		<-time.After(tick)
	}
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	w := setupKeys(t)
	other := newCaller(serve(t, w.dsn, unlimited...)) // a second server with its own cache
	w.newProject(t, project)
	status := func(c *caller, token string) int {
		return c.as(token).do(t, http.MethodGet, "/v1/projects/"+project, nil).status
	}
	t.Run("HaveTheirRoleInTheirProject", func(t *testing.T) {
		for _, role := range roles {
			c := w.as(w.newKey(t, project, "of-"+role, role))
			me := decode[client.Whoami](t, c.ok(t, c.do(t, http.MethodGet, "/v1/whoami", nil)))
			require.Equal(t, client.Whoami{
				Subject: "key:" + project + "/of-" + role, Method: "api-key", Roles: []client.RoleInProject{{Project: project, Role: client.Role(role)}},
			}, me)
			c.refused(t, c.do(t, http.MethodGet, "/v1/projects/platform", nil), "not_found")
		}
	})
	t.Run("AreRecordedAsCreator", func(t *testing.T) {
		c := w.as(w.newKey(t, project, "maker", "provider"))
		pool := decode[client.IPPool](t, c.created(t, c.do(t, http.MethodPost, at("pools"), named("made", obj{"cidr": "10.9.0.0/16"}))))
		require.Equal(t, "key:"+project+"/maker", pool.Metadata.CreatedBy)
	})
	t.Run("AreRefusedByEveryServerOnceRevoked", func(t *testing.T) {
		token := w.newKey(t, project, "revoked", "viewer")
		for _, c := range []*caller{w.caller, other} {
			require.Equal(t, http.StatusOK, status(c, token))
		}
		w.deleted(t, w.do(t, http.MethodDelete, at("api-keys", "revoked"), nil))
		for _, c := range []*caller{w.caller, other} {
			heededWithin(t, func() bool { return status(c, token) == http.StatusUnauthorized })
		}
		again := w.newKey(t, project, "revoked", "viewer") // the name can be used again, but the old token stays invalid
		require.Equal(t, http.StatusOK, status(w.caller, again))
		require.Equal(t, http.StatusUnauthorized, status(other, token))
	})
	t.Run("CreateNoOtherAccessOnceRevoked", func(t *testing.T) { // this must hold even on a server that has not learned of the revocation
		token := w.newKey(t, project, "leaving", "admin")
		there := other.as(token)
		require.Equal(t, http.StatusOK, status(other, token))
		w.deleted(t, w.do(t, http.MethodDelete, at("api-keys", "leaving"), nil))
		w.writesNothingBut(t, func() {
			there.refused(t, there.do(t, http.MethodPost, at("api-keys"), named("heir", obj{"role": "admin"})), "unauthenticated")
			there.refused(t, there.do(t, http.MethodPut, at("members", "corp:heir"), obj{"spec": obj{"role": "admin"}}), "unauthenticated")
			there.refused(t, there.do(t, http.MethodPut, at("pools", "made", "grants", "heir"), nil), "unauthenticated")
			there.refused(t, there.do(t, http.MethodPut, at("quotas", "heir"), obj{"spec": obj{"limits": obj{"claims": 1}}}), "unauthenticated")
		})
	})
	t.Run("AreRefusedFromTheMomentTheyExpire", func(t *testing.T) {
		until := time.Now().Add(15 * time.Second).Truncate(time.Microsecond) // the key must be created and first used before that
		token := w.newKeyUntil(t, project, "brief", "viewer", until)
		ok := 0
		for {
			begun := time.Now()
			code, ended := status(other, token), time.Now()
			if code == http.StatusUnauthorized {
				require.False(t, ended.Before(until.Add(-askew)), "not before its time")
				break
			}
			require.Equal(t, http.StatusOK, code)
			require.True(t, begun.Before(until.Add(askew)), "not after its time")
			ok++
			<-time.After(tick)
		}
		require.Positive(t, ok)
		key := decode[client.APIKey](t, w.ok(t, w.do(t, http.MethodGet, at("api-keys", "brief"), nil)))
		require.Equal(t, client.APIKeyPhase("Expired"), key.Status.Phase)
		require.True(t, until.Equal(*key.Spec.ExpiresAt))
		w.deleted(t, w.do(t, http.MethodDelete, at("api-keys", "brief"), nil))
	})
	t.Run("CannotExpireInThePast", func(t *testing.T) {
		w.writesNothing(t, func() {
			for _, bad := range []string{"2001-01-01T00:00:00Z", time.Now().Add(-time.Second).UTC().Format(time.RFC3339)} {
				w.refused(t, w.do(t, http.MethodPost, at("api-keys"), named("late", obj{"role": "viewer", "expiresAt": bad})), "invalid_argument", "/spec/expiresAt")
			}
		})
	})
	t.Run("ShowTheirTokenOnce", func(t *testing.T) {
		body := named("once", obj{"role": "viewer"})
		first := w.created(t, w.do(t, http.MethodPost, at("api-keys"), body, key("once")))
		token := decode[client.APIKey](t, first).Token
		require.Regexp(t, "^carve_[0-9a-f]{32}_[a-z2-7]{52}$", token)
		for _, a := range []answer{
			w.do(t, http.MethodPost, at("api-keys"), body, key("once")), w.do(t, http.MethodGet, at("api-keys", "once"), nil), w.do(t, http.MethodGet, at("api-keys"), nil),
			w.do(t, http.MethodGet, at("audit-events"), nil), w.do(t, http.MethodPost, at("api-keys"), named("dry", obj{"role": "viewer"}), dryRun),
		} {
			require.True(t, a.ok())
			require.NotContains(t, string(a.body), `"token"`)
			require.NotContains(t, string(a.body), token[len(token)-52:])
		}
		k := decode[client.APIKey](t, first)
		require.Equal(t, token[6:38], k.Status.KeyID)
		require.Equal(t, http.StatusOK, status(other, token), "the repeat made no other one")
	})
}

// A server records the last use of a key, at the latest when the server stops.
func TestLastUseOfAKeyIsKept(t *testing.T) {
	t.Parallel()
	w := setupKeys(t)
	w.newProject(t, project)
	token := w.newKey(t, project, "used", "viewer")
	w.newKey(t, project, "unused", "viewer")
	lastUsed := func(name string) *time.Time {
		return decode[client.APIKey](t, w.ok(t, w.do(t, http.MethodGet, at("api-keys", name), nil))).Status.LastUsedAt
	}
	require.Nil(t, lastUsed("used"))
	var before, after time.Time
	for range 2 {
		app := start(t, w.dsn, t.Output(), unlimited...)
		c := newCaller(app.Addr()).as(token)
		before = time.Now().Truncate(time.Microsecond)
		for range 20 {
			c.ok(t, c.do(t, http.MethodGet, "/v1/projects/"+project, nil))
		}
		after = time.Now()
		require.NoError(t, app.Close(context.Background()))
		used := lastUsed("used")
		require.NotNil(t, used)
		require.False(t, used.Before(before.Add(-askew)), "%v is before %v", used, before)
		require.False(t, used.After(after.Add(askew)))
	}
	require.Nil(t, lastUsed("unused"))
	k := w.do(t, http.MethodGet, at("api-keys", "used"), nil)
	require.Equal(t, int64(1), decode[client.APIKey](t, k).Metadata.Generation, "it is no change of the key")
}

// A member is a subject of an issuer. An API key has only the role of the key itself.
func TestMembersAreSubjectsOfIssuers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	put := func(subject string) answer {
		return w.do(t, http.MethodPut, at("members", subject), obj{"spec": obj{"role": "viewer"}})
	}
	w.writesNothing(t, func() {
		for _, bad := range []string{"alice", "corp:", ":alice", ":", "dev", "system", "key:acme|ci", "key:alice", "*", "corp:al%20ice", "corp:%C3%A9", "corp:a%2Fb"} {
			w.refused(t, put(bad), "invalid_argument", "path:subject")
		}
	})
	for _, good := range []string{"corp:alice@example.com", "corp:a", "corp:a:b", "corp:A.b_c|d+e=f-g"} {
		w.created(t, put(good))
		w.ok(t, put(good))
	}
}
