package provider

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// Delete deletes the object in the state. If another object now has the name, or another resource has taken the object over, Delete leaves it
// unchanged.
func (r *managed) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	prior := read(req.State.Raw)
	ctx, cancel := within(ctx, prior, "delete")
	defer cancel()
	if protected, _ := prior[protectionField.name].(bool); protected {
		r.refused(ctx, &resp.Diagnostics, nil, r.protectedError(prior))
		return
	}
	at, h := r.at(prior), holdingOf(ctx, req.Private)
	defer r.registry.lock(at)()
	taken := r.takenError(prior)
	if r.registry.taken(at, h.Token) {
		resp.Diagnostics.AddWarning(taken.title, taken.text)
		return
	}
	for attempt := 1; ; attempt++ {
		d, err := r.fetch(ctx, r.api, prior)
		if err == nil && !r.another(d, prior.text("uid")) {
			if h.lost(d) {
				resp.Diagnostics.AddWarning(taken.title, taken.text)
				return
			}
			_, err = r.api.call(ctx, http.MethodDelete, at, r.tag(d), nil)
		}
		if client.IsConflict(err) && attempt < attempts {
			continue
		}
		if client.CodeOf(err) == client.ProblemCodeInUse && r.scopes != "" {
			if err = r.empty(ctx, prior, err); err == nil {
				continue
			}
		}
		if err != nil && !client.IsNotFound(err) {
			r.refused(ctx, &resp.Diagnostics, nil, err)
			return
		}
		r.registry.end(at, h.Token)
		return
	}
}

// empty deletes the empty pools that belong to scopes. The server itself deletes such a pool only after `empty_pool_ttl`. empty also waits for blocks
// in cool-down. It returns nil if the caller should try the deletion again. Otherwise it returns the refusal.
func (r *managed) empty(ctx context.Context, prior values, refused error) error {
	if p, _ := client.AsProblem(refused); !zero(p.Claims) || !zero(p.Retained) {
		return refused
	}
	var pools []document
	for d, err := range r.api.list(ctx, fill(r.scopes, prior)) {
		if err != nil {
			return refused
		}
		if d.get("/status/scope") != nil {
			pools = append(pools, d)
		}
	}
	deleted := false
	for _, d := range pools {
		at := "/v1/projects/" + url.PathEscape(d.text("/metadata/project")) + "/pools/" + url.PathEscape(d.text("/metadata/name"))
		err := r.api.remove(ctx, at, revision(d))
		switch {
		case err == nil || client.IsConflict(err):
			deleted = true
		case !cools(err):
			return err
		default:
			refused = err
		}
	}
	switch {
	case deleted:
		return nil
	case !cools(refused):
		return refused
	default:
		return r.coolDown(ctx, refused)
	}
}

// cools reports whether the server refuses the deletion only because blocks are in cool-down.
func cools(err error) bool {
	p, ok := client.AsProblem(err)
	return ok && p.Code == client.ProblemCodeInUse && p.CooledDownAt != nil && zero(p.Claims) && zero(p.ChildPools) && zero(p.Retained)
}

func zero(n *int64) bool { return n == nil || *n == 0 }

// coolDown waits until the blocks' cool-down ends. If timeouts.delete ends earlier, it fails at once.
func (r *managed) coolDown(ctx context.Context, refused error) error {
	p, _ := client.AsProblem(refused)
	pause := max(time.Until(*p.CooledDownAt), time.Second)
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < pause || sleep(ctx, pause) != nil {
		return r.coolingError(p.Detail, *p.CooledDownAt)
	}
	return nil
}
