package provider

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
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
		r.protects(&resp.Diagnostics, prior)
		return
	}
	at, h := r.at(prior), holdingOf(ctx, req.Private)
	defer r.registry.lock(at)()
	taken := &takenError{kind: r.kind, id: r.id(prior)}
	if r.registry.taken(at, h.Token) {
		resp.Diagnostics.AddWarning(taken.title(), taken.Error())
		return
	}
	for attempt := 1; ; attempt++ {
		d, err := r.fetch(ctx, r.api, prior)
		if err == nil && !r.another(d, prior.text("uid")) {
			if h.lost(d) {
				resp.Diagnostics.AddWarning(taken.title(), taken.Error())
				return
			}
			tag := revision(d)
			if r.lockless {
				tag = ""
			}
			_, err = r.api.call(ctx, http.MethodDelete, at, tag, nil)
		}
		if client.IsConflict(err) && attempt < attempts {
			continue
		}
		if client.CodeOf(err) == client.ProblemCodeInUse && r.scopes != "" {
			var emptied bool
			if emptied, err = r.empty(ctx, prior, err); emptied {
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

func (r *managed) protects(to *diag.Diagnostics, v values) {
	to.AddAttributeError(path.Root(protectionField.name), "It is protected from deletion", fmt.Sprintf(
		"The %s %s has deletion_protection, so it is neither destroyed nor replaced. Set deletion_protection = false and apply, then destroy or replace it.",
		r.words(), r.id(v)))
}

// empty deletes the empty pools of the scopes. The server itself deletes such a pool only after `empty_pool_ttl`. It also waits for blocks in
// cool-down. It returns true if the caller should try the deletion again. Otherwise it returns the refusal.
func (r *managed) empty(ctx context.Context, prior values, refused error) (bool, error) {
	if p, _ := client.AsProblem(refused); !zero(p.Claims) || !zero(p.Retained) {
		return false, refused
	}
	var pools []document
	for d, err := range r.api.list(ctx, fill(r.scopes, prior)) {
		if err != nil {
			return false, refused
		}
		if d.get("/status/scope") != nil {
			pools = append(pools, d)
		}
	}
	deleted := false
	for _, d := range pools {
		at := "/v1/projects/" + url.PathEscape(d.text("/metadata/project")) + "/pools/" + url.PathEscape(d.text("/metadata/name"))
		_, err := r.api.call(ctx, http.MethodDelete, at, revision(d), nil)
		switch {
		case err == nil || client.IsNotFound(err) || client.IsConflict(err):
			deleted = true
		case !cools(err):
			return false, err
		default:
			refused = err
		}
	}
	if deleted {
		return true, nil
	}
	if !cools(refused) {
		return false, refused
	}
	return r.coolDown(ctx, refused)
}

// cools reports whether the server refuses the deletion only because of blocks in cool-down.
func cools(err error) bool {
	p, ok := client.AsProblem(err)
	return ok && p.Code == client.ProblemCodeInUse && p.CooledDownAt != nil && zero(p.Claims) && zero(p.ChildPools) && zero(p.Retained)
}

func zero(n *int64) bool { return n == nil || *n == 0 }

// coolDown waits until the cool-down of the blocks ends. If timeouts.delete ends earlier, it fails at once.
func (r *managed) coolDown(ctx context.Context, refused error) (bool, error) {
	p, _ := client.AsProblem(refused)
	pause := max(time.Until(*p.CooledDownAt), time.Second)
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < pause {
		return false, &coolingError{kind: r.kind, detail: p.Detail, until: *p.CooledDownAt}
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, &coolingError{kind: r.kind, detail: p.Detail, until: *p.CooledDownAt}
	case <-timer.C:
		return true, nil
	}
}
