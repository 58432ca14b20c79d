package e2e

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/app"
)

// roles are the roles of a project, smallest first.
var roles = []string{"viewer", "consumer", "provider", "admin"}

// unlimited lists the flags of a server that requires API keys and has no rate limits.
var unlimited = []string{"--auth=keys", "--rate-limit-reads=0", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-anonymous=0"}

// setupKeys makes a world in which callers need API keys. The world's own caller has the first key of the installation.
func setupKeys(t testing.TB) *world {
	t.Helper()
	dsn := database(t, elsewhere...)
	return newWorld(t, newCaller(serve(t, dsn, unlimited...)).as(bootstrap(t, dsn)), dsn)
}

// setupLogged does the same as setupKeys. Its server logs at debug level.
func setupLogged(t testing.TB) (*world, *safeBuffer) {
	t.Helper()
	dsn, log := database(t, elsewhere...), &safeBuffer{}
	a := start(t, dsn, log, append(slices.Clone(unlimited), "--log-level=debug")...)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	return newWorld(t, newCaller(a.Addr()).as(bootstrap(t, dsn)), dsn), log
}

// safeBuffer is a buffer that several goroutines write to.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// bootstrap makes an API key of a platform admin directly in the database, as `ipamctl bootstrap` does.
func bootstrap(t testing.TB, dsn string) (token string) {
	t.Helper()
	token, err := app.Bootstrap(t.Context(), dsn, region)
	require.NoError(t, err)
	return token
}

// in returns the path of one of a project's collections, or of one object in it.
func in(project, collection string, names ...string) string {
	path := "/v1/projects/" + project + "/" + collection
	for _, n := range names {
		path += "/" + n
	}
	return path
}

// newProject makes a project.
func (c *caller) newProject(t testing.TB, name string) {
	t.Helper()
	c.created(t, c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": name}}))
}

// newKey makes an API key and returns its token.
func (c *caller) newKey(t testing.TB, project, name, role string) (token string) {
	t.Helper()
	return c.newKeyUntil(t, project, name, role, time.Time{})
}

// newKeyUntil makes a key that expires at the given time. If the time is zero, the key does not expire.
func (c *caller) newKeyUntil(t testing.TB, project, name, role string, until time.Time) (token string) {
	t.Helper()
	spec := obj{"role": role}
	if !until.IsZero() {
		spec["expiresAt"] = until.UTC().Format(time.RFC3339Nano)
	}
	a := decode[client.APIKey](t, c.created(t, c.do(t, http.MethodPost, in(project, "api-keys"), named(name, spec))))
	require.NotEmpty(t, a.Token)
	return a.Token
}

// tenant is a project with a caller in each role. Its objects contain two words of the tenant, so that a test detects a leak in any field. Names
// contain one word, which others may guess. All other fields contain the second word.
type tenant struct {
	project      string
	name, secret string             // the two words
	by           map[string]*caller // by role
}

func (p *tenant) admin() *caller { return p.by["admin"] }

func (p *tenant) consumer() *caller { return p.by["consumer"] }

// at returns the path of one of the project's collections, or of one object in it.
func (p *tenant) at(collection string, names ...string) string {
	return in(p.project, collection, names...)
}

// named returns a name with the tenant's word, so that no other tenant uses it.
func (p *tenant) named(name string) string { return p.name + "-" + name }

// body returns the body that creates an object, with the tenant's words in every field.
func (p *tenant) body(name string, spec obj) obj {
	return obj{
		"metadata": obj{"name": name, "labels": obj{"kind": "network", "owner": p.secret}, "annotations": obj{p.secret: p.secret}},
		"spec":     spec,
	}
}

// hearsNot makes the test fail if a response to one of the tenant's callers contains one of the words.
func (p *tenant) hearsNot(words ...string) {
	for _, c := range p.by {
		c.unseen = append(c.unseen, words...)
	}
}

// town is a world with two tenants that know nothing of each other. Both have the same objects, such as a pool "default" with the same addresses.
type town struct {
	*world
	north, south *tenant
}

func setupTown(t testing.TB) *town {
	t.Helper()
	w := setupKeys(t)
	town := &town{world: w, north: w.settle(t, "north", "quokka", "numbat"), south: w.settle(t, "south", "wombat", "dugong")}
	town.north.hearsNot(town.south.name, town.south.secret)
	town.south.hearsNot(town.north.name, town.north.secret)
	return town
}

// settle makes a tenant with one object of each kind.
func (w *world) settle(t testing.TB, project, name, secret string) *tenant {
	t.Helper()
	p := &tenant{project: project, name: name, secret: secret, by: map[string]*caller{}}
	w.newProject(t, project)
	for _, role := range roles {
		p.by[role] = w.as(w.newKey(t, project, p.named(role), role))
	}
	c := p.admin()
	post := func(collection, name string, spec obj) answer {
		return c.created(t, c.do(t, http.MethodPost, p.at(collection), p.body(name, spec)))
	}
	put := func(path string, body any) { c.created(t, c.do(t, http.MethodPut, path, body)) }
	text := obj{"description": secret}
	post("spaces", p.named("space"), text)
	for class, spec := range map[string]obj{
		"class":  {"ipFamily": "IPv4", "defaultPrefixLength": 26},
		"other":  {"ipFamily": "IPv6"},
		"scoped": {"ipFamily": "IPv4", "defaultPrefixLength": 28, "poolPer": []string{"project", "cluster"}, "poolPrefixLength": 20},
	} {
		spec["description"], spec["parameters"] = secret, obj{"owner": secret}
		post("classes", p.named(class), spec)
	}
	post("pools", "default", obj{
		"cidr": "10.0.0.0/16", "description": secret, "allocation": obj{"strategy": "FirstFit"}, "reservations": []obj{{"first": 4, "reason": secret}},
		"classNames": []string{p.named("class")},
	})
	post("pools", p.named("racks"), obj{"cidr": "11.0.0.0/16", "classNames": []string{p.named("scoped")}, "description": secret})
	post("pools", p.named("child"), obj{"parentRef": obj{"name": "default"}, "cidr": "10.0.128.0/20", "description": secret})
	post("pools", p.named("lab"), obj{"cidr": "2001:db8::/48", "spaceRef": obj{"name": p.named("space")}, "description": secret})
	owner := obj{"kind": "Cluster", "name": secret, "uid": secret}
	post("claims", p.named("claim"), obj{"poolRef": obj{"name": "default"}, "prefixLength": 24, "ownerRef": owner})
	post("claims", p.named("gone"), obj{"poolRef": obj{"name": "default"}, "prefixLength": 24, "reclaimPolicy": "Retain", "ownerRef": owner})
	c.deleted(t, c.do(t, http.MethodDelete, p.at("claims", p.named("gone")), nil))
	put(p.at("members", secret+":somebody"), obj{"spec": obj{"role": "viewer"}})
	put(p.at("quotas", p.named("quota")), obj{"spec": obj{"limits": obj{"claims": 10000}, "description": secret}})
	put(p.at("pools", "default", "grants", p.named("friend")), nil)
	put(p.at("spaces", "default", "grants", p.named("friend")), nil)
	post("api-keys", p.named("spare"), obj{"role": "viewer", "description": secret})
	return p
}

// retainedBlock returns the name of the allocation that the tenant holds without a claim.
func (p *tenant) retainedBlock(t testing.TB) string {
	t.Helper()
	kept := all[client.IPAllocation](t, p.admin(), p.at("allocations")+"?phase=Retained")
	require.NotEmpty(t, kept)
	return kept[0].Metadata.Name
}

// readEverything reads all lists of the project that the caller may read, and each object in them.
func (p *tenant) readEverything(t testing.TB, c *caller) {
	t.Helper()
	type thing = struct {
		Metadata struct{ Name string }
	}
	for _, collection := range []string{"spaces", "pools", "classes", "claims", "allocations", "members", "api-keys", "quotas"} {
		for _, each := range all[thing](t, c, p.at(collection)) {
			one := p.at(collection, each.Metadata.Name)
			c.ok(t, c.do(t, http.MethodGet, one, nil))
			if collection == "spaces" || collection == "pools" {
				for _, grant := range all[thing](t, c, one+"/grants") {
					c.ok(t, c.do(t, http.MethodGet, one+"/grants/"+grant.Metadata.Name, nil))
				}
			}
			if collection == "pools" {
				c.ok(t, c.do(t, http.MethodGet, one+"/free", nil))
				c.ok(t, c.do(t, http.MethodGet, one+"/map", nil))
				c.ok(t, c.do(t, http.MethodGet, one+"/utilization", nil))
			}
		}
	}
	for _, allocation := range append(all[client.IPAllocation](t, c, p.at("allocations")), all[client.IPAllocation](t, c, p.at("allocations")+"?holder=self")...) {
		address, _, _ := strings.Cut(allocation.Status.AllocatedCIDR, "/")
		c.ok(t, c.do(t, http.MethodGet, p.at("history")+"?address="+address, nil))
	}
	require.NotEmpty(t, all[obj](t, c, p.at("audit-events")))
	c.ok(t, c.do(t, http.MethodGet, "/v1/projects/"+p.project, nil))
	c.ok(t, c.do(t, http.MethodGet, "/v1/whoami", nil))
	require.NotEmpty(t, all[obj](t, c, "/v1/projects"))
}
