package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// stage is a world that holds what the examples of the contract talk about, so that they can be sent as they are, and an
// idle thing of each kind that can be deleted.
type stage struct {
	*world
	names map[string]string // for the parameters of paths, as in the contract's examples
	spare string            // a second retained allocation
}

func setupStage(t testing.TB) *stage {
	t.Helper()
	s := &stage{world: setupEmpty(t), names: map[string]string{}}
	for _, op := range contract().operations {
		for _, p := range op.in("path") {
			name, isString := p.Example.(string)
			require.True(t, isString, "%s: parameter %s has no example", op.id, p.Name)
			s.names[p.Name] = name
		}
	}
	post := func(path string, body any) answer {
		return s.created(t, s.do(t, http.MethodPost, path, body))
	}
	team := "/v1/projects/" + s.names["project"]
	example := func(name string) any { return clone(contract().doc.Components.Examples[name].Value.Value) }
	post("/v1/projects", example("ProjectCreate"))
	post("/v1/projects", obj{"metadata": obj{"name": "team-idle"}})
	post(team+"/spaces", example("SpaceCreate"))
	post(team+"/spaces", obj{"metadata": obj{"name": "idle"}})
	post(team+"/pools", example("IPPoolCreateRoot"))
	post(team+"/pools", example("IPPoolCreateChild"))
	post(team+"/pools", named("idle", child("prod-eu", 20)))
	post(team+"/claims", example("IPClaimCreateByLength"))
	s.names["allocation"], s.spare = s.retained(t, team, "10.20.2.0/28"), s.retained(t, team, "10.20.2.16/28")
	return s
}

// retained makes an allocation that no claim holds.
func (s *stage) retained(t testing.TB, team, cidr string) string {
	t.Helper()
	spec := obj{"poolRef": obj{"name": s.names["pool"]}, "cidr": cidr, "reclaimPolicy": "Retain"}
	claim := decode[client.IPClaim](t, s.created(t, s.do(t, http.MethodPost, team+"/claims", named("gone", spec))))
	s.deleted(t, s.do(t, http.MethodDelete, team+"/claims/gone", nil))
	return claim.Status.AllocationRef.Name
}
