package plan

import (
	"context"
	"encoding/json"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// largestBatch is the maximum number of claims in one request.
const largestBatch = 1000

// attempt checks the new claims of the plan with dry runs on the server. If this plan first creates or changes a claim's pool or class, the claim is
// omitted. The server cannot check such a claim yet.
func (r *run) attempt(ctx context.Context) error {
	touched := map[string]map[string]bool{}
	for _, st := range r.steps {
		if st.Action == actionToCreate || st.Action == actionToChange {
			if touched[st.Kind] == nil {
				touched[st.Kind] = map[string]bool{}
			}
			touched[st.Kind][st.Name] = true
		}
	}
	var which []int
	for i, st := range r.steps {
		if st.Kind != kindClaim || st.Action != actionToCreate || r.made(kindProject) {
			continue
		}
		var claim client.IPClaimCreate
		if err := json.Unmarshal(st.body, &claim); err != nil {
			return err
		}
		switch pool := claim.Spec.PoolRef; {
		case pool != nil && (pool.Project == "" || pool.Project == r.Project) && touched[kindPool][pool.Name]:
		case pool == nil && (len(touched[kindPool]) > 0 || len(touched[kindClass]) > 0):
		default:
			which = append(which, i)
		}
	}
	c := &execution{Session: r.Session, steps: r.steps}
	for len(which) > 0 {
		some := which[:min(len(which), largestBatch)]
		if _, err := c.send(ctx, some, session.Writing{DryRun: true}); exit.CodeOf(err) == exit.Conflict {
			return err
		} else if err != nil {
			r.Remark("cannot check the claims: %s", err) // a user with the role viewer may read a plan but must not create claims
			return nil
		}
		which = which[len(some):]
	}
	return nil
}

// made reports whether the plan creates an object of a kind.
func (r *run) made(kind string) bool {
	for _, st := range r.steps {
		if st.Kind == kind && st.Action == actionToCreate {
			return true
		}
	}
	return false
}
