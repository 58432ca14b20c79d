package plan

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// largestBatch is the maximum number of claims in one request.
const largestBatch = 1000

// attempt checks the plan's new claims with dry runs on the server. It omits a claim if the plan first creates or changes the claim's pool or class,
// because the server cannot check such a claim yet.
func (r *run) attempt(ctx context.Context) error {
	touched := map[key]bool{} // "" stands for any object of the kind
	for _, st := range r.steps {
		if st.Action == actionToCreate || st.Action == actionToChange {
			touched[st.key], touched[key{st.Kind, ""}] = true, true
		}
	}
	var which []int
	createsProject := r.steps[0].Action == actionToCreate
	for i, st := range r.steps {
		if st.Kind != kindClaim || st.Action != actionToCreate || createsProject {
			continue
		}
		var claim client.IPClaimCreate
		if err := json.Unmarshal(st.body, &claim); err != nil {
			return err
		}
		switch pool := claim.Spec.PoolRef; {
		case pool != nil && (pool.Project == "" || pool.Project == r.Project) && touched[key{kindPool, pool.Name}]:
		case pool == nil && (touched[key{kindPool, ""}] || touched[key{kindClass, ""}]):
		default:
			which = append(which, i)
		}
	}
	c := &execution{Runner: converge.Runner{Session: r.Session}, steps: r.steps}
	for some := range slices.Chunk(which, largestBatch) {
		if _, err := c.send(ctx, some, session.Writing{DryRun: true}); exit.CodeOf(err) == exit.Conflict {
			return err
		} else if err != nil {
			r.Remark("cannot check the claims: %s", err) // a user with the role viewer may read a plan but must not create claims
			return nil
		}
	}
	return nil
}
