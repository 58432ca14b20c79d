package provider

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// Delete deletes the object that the state has. It leaves another object of its name alone, and one that another resource has taken over.
func (r *managed) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	prior := read(req.State.Raw)
	ctx, cancel := within(ctx, prior, "delete")
	defer cancel()
	if protected, _ := prior[protectionField.name].(bool); protected {
		r.protects(&resp.Diagnostics, prior)
		return
	}
	at, h := r.at(prior), holdingOf(ctx, req.Private)
	defer r.ledger.lock(at)()
	taken := &takenError{kind: r.kind, id: r.id(prior)}
	if r.ledger.taken(at, h.Token) {
		resp.Diagnostics.AddWarning(taken.title(), taken.Error())
		return
	}
	for attempt := 1; ; attempt++ {
		d, err := r.api.call(ctx, http.MethodGet, at, "", nil)
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
		if err != nil && !client.IsNotFound(err) {
			r.refused(ctx, &resp.Diagnostics, nil, err)
			return
		}
		r.ledger.end(at, h.Token)
		return
	}
}

func (r *managed) protects(to *diag.Diagnostics, v values) {
	to.AddAttributeError(path.Root(protectionField.name), "It is protected from deletion", fmt.Sprintf(
		"The %s %s has deletion_protection, so it is neither destroyed nor replaced. To do so, set deletion_protection = false and apply that first.",
		r.words(), r.id(v)))
}
