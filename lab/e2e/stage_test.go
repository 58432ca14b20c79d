package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// stage is a world that contains the objects in the contract's examples. So tests can send the examples unchanged. It also has an additional object
// of each kind, which a test can delete.
type stage struct {
	*world
	names map[string]string // for the parameters of paths, as in the contract's examples
	spare string            // a second retained allocation
}

// elsewhere lists the other regions of a stage, as in the contract's examples.
var elsewhere = []string{"eu", "us"}

// The projects of the stage that are not in the examples. One can be deleted, and the other has a grant.
const (
	idleProject  = "team-idle"
	otherProject = "team-other"
)

func setupStage(t testing.TB) *stage {
	t.Helper()
	dsn := database(t, elsewhere...)
	return furnish(t, newWorld(t, newCaller(serve(t, dsn)), dsn))
}

// droppedDelivery is the id of an undeliverable webhook message, which a test can drop.
const droppedDelivery = "0195c2a4-7b10-7c3e-8f21-5d6e7f809113"

// furnish makes a stage from an empty world. The caller of the world must be an admin of the platform.
func furnish(t testing.TB, w *world) *stage {
	t.Helper()
	s := &stage{world: w, names: map[string]string{}}
	for _, op := range contract().operations {
		for _, p := range op.in("path") {
			name, isString := p.Example.(string)
			require.True(t, isString, "%s: parameter %s has no example", op.id, p.Name)
			s.names[p.Name] = name
		}
	}
	s.names["consumer"] = otherProject // for its own objects, a project needs no grant
	post := func(path string, body any) answer {
		return s.created(t, s.do(t, http.MethodPost, path, body))
	}
	put := func(path string, body any) { s.created(t, s.do(t, http.MethodPut, path, body)) }
	team := "/v1/projects/" + s.names["project"]
	example := func(name string) obj { return clone(contract().doc.Components.Examples[name].Value.Value.(obj)) }
	post("/v1/projects", example("ProjectCreate"))
	post("/v1/projects", obj{"metadata": obj{"name": idleProject}})
	post(team+"/spaces", example("SpaceCreate"))
	post(team+"/spaces", obj{"metadata": obj{"name": "idle"}})
	put(team+"/spaces/lab/grants/"+otherProject, nil)
	post(team+"/pools", example("IPPoolCreateRoot"))
	post(team+"/pools", example("IPPoolCreateChild"))
	post(team+"/pools", named("idle", child("prod-eu", 20)))
	put(team+"/pools/prod-eu/grants/"+otherProject, nil)
	s.classes(t)
	post("/v1/projects/platform/pools", named("shared-eu", obj{"cidr": "10.96.0.0/16", "visibility": "shared"}))
	post(team+"/claims", named("in-scope", obj{"className": "per-cluster", "scope": obj{"cluster": "web-eu"}})) // its pool is the scope pool in the examples
	put("/v1/projects/platform/pools/shared-eu/grants/"+s.names["project"], nil)
	put(team+"/members/"+s.names["subject"], obj{"spec": obj{"role": "viewer"}})
	post(team+"/api-keys", inTime(example("ApiKeyCreate")))
	quota := example("QuotaPut")
	quota["spec"].(obj)["limits"] = obj{"claims": 400}
	put(team+"/quotas/"+s.names["quota"], quota)
	post(team+"/claims", example("IPClaimCreateByLength"))
	post(team+"/claims", named("used", obj{"poolRef": obj{"name": "prod-eu"}, "cidr": "10.20.250.0/28", "maxConsumers": 8}))
	for _, uid := range []string{s.names["uid"], "vm-2", "vm-3", "idle"} {
		put(in(s.names["project"], "realms", s.names["realm"], "consumers", uid), obj{"spec": obj{}})
	}
	put(in(s.names["project"], "claims", "used", "consumers", "vm-3"), obj{})
	for _, name := range []string{s.names["alertRule"], "idle"} { // rules about objects that do not exist
		post(team+"/alert-rules", named(name, obj{"about": "Quotas", "percent": 99, "resourceName": "nobody"}))
	}
	for _, name := range []string{s.names["webhook"], "idle"} { // webhooks that receive nothing
		post(team+"/webhooks", named(name, obj{"url": "https://receiver.example/", "paused": true}))
	}
	for _, id := range []string{s.names["delivery"], droppedDelivery} {
		_, err := w.sql.Exec(t.Context(), `INSERT INTO deliveries
			SELECT region, project_id, id, $1, 'c', convert_to('{"type":"resync","webhook":"inventory","project":"team-a","cursor":"c"}', 'UTF8'), 1, now(),
				'{"reason":"timeout","at":"2026-03-02T09:30:00Z"}', now(), false
			FROM webhooks WHERE name = $2`, id, s.names["webhook"])
		require.NoError(t, err)
	}
	s.names["allocation"], s.spare = s.retained(t, team, "10.20.2.0/28"), s.retained(t, team, "10.20.2.16/28")
	return s
}

// classes makes the classes in the examples (standard, per-cluster and web), with the pools behind them, in the team's project. It also makes one
// that can be deleted. The default class belongs to the platform, so that a class of the team can become the default.
func (s *stage) classes(t testing.TB) {
	t.Helper()
	post := func(project, collection, name string, spec obj) {
		s.created(t, s.do(t, http.MethodPost, in(project, collection), named(name, spec)))
	}
	example := func(name string) obj {
		return clone(contract().doc.Components.Examples[name].Value.Value.(obj)["spec"].(obj))
	}
	team := s.names["project"]
	post(team, "classes", "standard", obj{"ipFamily": "IPv4", "allowedPrefixLengths": obj{"min": 20, "max": 28}, "defaultPrefixLength": 24})
	post(team, "classes", "per-cluster", example("IPClassCreateScoped"))
	post(team, "classes", "web", example("IPClassCreateMinimal"))
	post(team, "classes", "idle", obj{"ipFamily": "IPv4"})
	post("platform", "classes", "common", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "visibility": "shared", "isDefault": true})
	post(team, "pools", "standard-eu", example("IPPoolCreateBacking"))
	post(team, "pools", "clusters", obj{"cidr": "10.98.0.0/16", "classNames": []string{"per-cluster"}})
	post("platform", "pools", "common-eu", obj{"cidr": "10.99.0.0/16", "classNames": []string{"common"}})
}

// retained makes a retained allocation, which has no claim.
func (s *stage) retained(t testing.TB, team, cidr string) string {
	t.Helper()
	spec := obj{"poolRef": obj{"name": s.names["pool"]}, "cidr": cidr, "reclaimPolicy": "Retain"}
	claim := decode[client.IPClaim](t, s.created(t, s.do(t, http.MethodPost, team+"/claims", named("gone", spec))))
	s.deleted(t, s.do(t, http.MethodDelete, team+"/claims/gone", nil))
	return claim.Status.AllocationRef.Name
}
