package e2e

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// unforgetting starts a server whose cached keys and members never expire. So requests meet everything that a server may have cached. A token that is
// not an API key counts as the subject of a member.
func unforgetting(t testing.TB, dsn string) (addr string) {
	t.Helper()
	store, err := crdb.Open(t.Context(), asServer(t, dsn), crdb.Options{Region: region, MaxConnections: 8})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	start := time.Now()
	keyring := tenancy.NewKeyring(store, func() time.Time { return start })
	server := httptest.NewServer(api.New(api.Config{
		Service: alloc.New(store, alloc.Options{Region: region}), RequestTimeout: time.Minute,
		Authenticator: auth.Combined{Keys: keyring, OIDC: memberships{keyring}},
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	require.NoError(t, err)
	return at.Host
}

// memberships accepts any subject as the name of the caller. The caller gets the roles that it has as a member.
type memberships struct{ keyring *tenancy.Keyring }

func (m memberships) Authenticate(ctx context.Context, subject string) (tenancy.Principal, error) {
	held, err := m.keyring.MemberRoles(ctx, subject)
	return tenancy.Principal{Subject: subject, Method: "oidc", Held: held}, err
}

// remade is a stage whose project is the second one with its name. The callers had a role in the first project, and the servers have cached those
// roles.
type remade struct {
	*stage
	project string
	old     map[string]*caller
}

func setupRemade(t testing.TB) *remade {
	t.Helper()
	w := setupKeys(t)
	s := &stage{names: map[string]string{}}
	name := contract().doc.Components.Examples["ProjectCreate"].Value.Value.(obj)["metadata"].(obj)["name"].(string)
	r := &remade{stage: s, project: name, old: map[string]*caller{}}
	w.newProject(t, name)
	tokens := map[string]string{"Member": "corp:old"}
	for _, role := range roles {
		tokens["Key"+role] = w.newKey(t, name, "old-"+role, role)
	}
	w.created(t, w.do(t, http.MethodPut, in(name, "members", "corp:old"), obj{"spec": obj{"role": "admin"}}))
	for _, server := range []string{"One", "Other"} {
		addr := unforgetting(t, w.dsn)
		for who, token := range tokens {
			c := w.as(token)
			c.follow(addr)
			r.old[who+"OnServer"+server] = c
		}
		r.familiarize(t, r.old["KeyadminOnServer"+server])
	}
	for _, c := range r.old {
		c.ok(t, c.do(t, http.MethodGet, "/v1/projects/"+name, nil))
	}
	w.deleted(t, w.do(t, http.MethodDelete, "/v1/projects/"+name, nil))
	r.stage = furnish(t, w)
	require.Equal(t, name, r.names["project"])
	return r
}

// familiarize makes a server cache a project's pools, classes and claims as far as possible. Then it deletes them.
func (r *remade) familiarize(t testing.TB, c *caller) {
	t.Helper()
	post := func(collection, name string, spec obj) {
		c.created(t, c.do(t, http.MethodPost, in(r.project, collection), named(name, spec)))
	}
	remove := func(path ...string) {
		c.deleted(t, c.do(t, http.MethodDelete, in(r.project, path[0], path[1:]...), nil))
	}
	post("classes", "standard", obj{"ipFamily": "IPv4", "defaultPrefixLength": 24})
	post("pools", "prod-eu", obj{"cidr": "10.20.0.0/16", "classNames": []string{"standard"}})
	for range 2 {
		post("claims", "web-eu-a", obj{"className": "standard"})
		post("claims", "web-eu-b", obj{"poolRef": obj{"name": "prod-eu"}, "prefixLength": 24})
		remove("claims", "web-eu-a")
		remove("claims", "web-eu-b")
	}
	remove("pools", "prod-eu")
	remove("classes", "standard")
}

// A role applies to one project, and not to a later project with the same name. The test deletes a project, and another tenant makes one with that
// name. A caller with a key or a membership in the first project must find nothing, immediately and on each server, whatever the servers have cached.
func TestLaterProjectOfTheNameRefusesTheEarlierRoles(t *testing.T) {
	t.Parallel()
	r := setupRemade(t)
	specimens := r.specimens(t)
	lasting := func(s specimen) bool { return tenancy.Action(s.op.permission()).Lasting() }
	slices.SortStableFunc(specimens, func(a, b specimen) int { // operations that read the caller's roles again come last, because they refresh the cache
		switch {
		case lasting(a) == lasting(b):
			return 0
		case lasting(a):
			return 1
		default:
			return -1
		}
	})
	tried := map[string]bool{}
	for _, each := range specimens {
		if each.op.id == "deleteProject" { // the example deletes the idle project of the stage
			each.path = "/v1/projects/" + r.project
		}
		if !strings.HasPrefix(each.path, "/v1/projects/"+r.project) {
			continue
		}
		t.Run(each.String(), func(t *testing.T) {
			tried[each.op.id] = true
			r.writesNothingBut(t, func() {
				for who, c := range r.old {
					a := each.send(t, c, probe)
					if a.status == http.StatusUnauthorized && lasting(each) {
						continue
					}
					require.Equal(t, http.StatusNotFound, a.status, "%s: %s", who, a.body)
					missing := each
					nowhere := r.project[:len(r.project)-1] + "0"
					missing.path = strings.Replace(each.path, "/"+r.project, "/"+nowhere, 1)
					there := missing.send(t, c, probe)
					there.body = bytes.ReplaceAll(there.body, []byte(nowhere), []byte(r.project))
					require.Equal(t, whole(there), whole(a), "%s: as for a project that does not exist", who)
				}
			}, "audit_events")
		})
	}
	for _, op := range contract().operations {
		require.True(t, tried[op.id] || slices.Contains(outside, op.id), "%s was not tried", op.id)
	}
}

func TestLaterProjectOfTheNameIsHiddenFromTheEarlierRoles(t *testing.T) {
	t.Parallel()
	r := setupRemade(t)
	for who, c := range r.old {
		require.Empty(t, all[client.Project](t, c, "/v1/projects"), who)
		me := decode[client.Whoami](t, c.ok(t, c.do(t, http.MethodGet, "/v1/whoami", nil)))
		require.Empty(t, me.Roles, who)
		a := c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": "mine"}})
		require.False(t, a.ok(), who)
	}
	t.Run("CallersWithANewRoleFindIt", func(t *testing.T) { // a control: with a new role, the same requests succeed
		for who, old := range r.old {
			if !strings.HasPrefix(who, "Key") {
				continue
			}
			c := r.as(r.newKey(t, r.project, strings.ToLower(who), "consumer"))
			c.follow(*old.addr.Load())
			c.created(t, c.do(t, http.MethodPost, in(r.project, "claims"), named(strings.ToLower(who), obj{"className": "standard"})))
			require.Len(t, decode[client.Whoami](t, c.ok(t, c.do(t, http.MethodGet, "/v1/whoami", nil))).Roles, 1)
			require.Len(t, all[client.Project](t, c, "/v1/projects"), 1)
		}
	})
}
