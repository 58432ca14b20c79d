package converge

import (
	"encoding/json"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Spec maps each member's name to its value.
type Spec = map[string]json.RawMessage

// ClaimRest returns a claim's spec without its block and its pool. If the class belongs to the claim's own project, the result contains the class. It
// omits any other class, because only the pool matters in that case.
func ClaimRest(c client.IPClaim) (Spec, error) {
	spec, err := Whole(c.Spec)
	if err != nil {
		return nil, err
	}
	return claimRest(spec, c.Metadata.Project, c.Status.ClassName, c.Status.ClassProject)
}

// claimRest works like ClaimRest, for a decoded spec. project is the claim's project.
func claimRest(spec Spec, project, class, classProject string) (rest Spec, err error) {
	spec = without(spec, "cidr", "address", "prefixLength", "ipFamily", "poolRef", "poolSelector", "allocationRef", "consumers", "className")
	if classProject != project || class == "" {
		delete(spec, "scope")
		return spec, nil
	}
	spec["className"], err = show.Marshal(class)
	return spec, err
}

// PoolRest returns a pool's spec without position, description and drain.
func PoolRest(p client.IPPool) (Spec, error) {
	return Rest(p.Spec, "cidr", "prefixLength", "parentRef", "spaceRef", "description", "drain")
}

// Whole returns a spec with all members.
func Whole(spec any) (all Spec, err error) {
	text, err := show.Marshal(spec)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &all)
	return all, err
}

// Rest returns a spec without the members in the list but. It also omits members that have the server's default.
func Rest(spec any, but ...string) (Spec, error) {
	all, err := Whole(spec)
	if err != nil {
		return nil, err
	}
	return without(all, but...), nil
}

// without removes the members in the list but, and members that have the server's default.
func without(all Spec, but ...string) Spec {
	for _, name := range but {
		delete(all, name)
	}
	for name, preset := range map[string]string{"visibility": `"consumer"`, "allocation": `{"strategy":"BestFit"}`, "region": `"local"`} {
		if string(all[name]) == preset {
			delete(all, name)
		}
	}
	for name, value := range all {
		if text := string(value); text == `""` || text == "null" || text == "[]" || text == "{}" {
			delete(all, name)
		}
	}
	return all
}
