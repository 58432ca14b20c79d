package provider

import (
	"context"
	"net/http"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// ValidateConfig checks the configuration without a request to the server.
func (r *managed) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config := read(req.Config.Raw)
	for _, f := range faults(r.kind, r.all(), config) {
		resp.Diagnostics.AddAttributeError(f.at, "Invalid "+f.name, f.detail)
	}
}

// located is a fault with the path of its attribute.
type located struct {
	fault
	at path.Path
}

func faults(k kind, fields []field, config values) []located {
	var found []located
	for _, f := range fields {
		found = append(found, f.faults(path.Root(f.name), config[f.name])...)
	}
	if k.invalid != nil {
		for _, f := range k.invalid(config) {
			found = append(found, located{f, path.Root(f.name)})
		}
	}
	return found
}

// faults returns the faults in a value and in the values inside it.
func (f field) faults(at path.Path, v any) []located {
	switch v := v.(type) {
	case map[string]any:
		if f.form == object {
			var found []located
			for _, inner := range f.fields {
				found = append(found, inner.faults(at.AtName(inner.name), v[inner.name])...)
			}
			return found
		}
	case []any:
		if f.form == objects {
			var found []located
			for i, element := range v {
				found = append(found, field{form: object, fields: f.fields}.faults(at.AtListIndex(i), element)...)
			}
			return found
		}
	}
	if wrong := f.wrong(v); wrong != "" {
		return []located{{fault{f.name, f.name + " " + wrong}, at}}
	}
	return nil
}

// ModifyPlan fills in the values that are known before apply. If a value has the same meaning as before, it keeps the prior spelling. It refuses
// plans that cannot succeed.
func (r *managed) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	prior, h := read(req.State.Raw), holdingOf(ctx, req.Private)
	if prior != nil && h.Token == "" { // an older state has no token yet
		h = holding{Token: uuid.NewString(), Imported: true}
		resp.Diagnostics.Append(h.store(ctx, resp.Private)...)
	}
	protected, _ := prior[protectionField.name].(bool)
	if req.Plan.Raw.IsNull() {
		if protected {
			r.protects(&resp.Diagnostics, prior)
			return
		}
		r.enter(ctx, &resp.Diagnostics, prior, h, intentRelease, false)
		return
	}
	config, plan := read(req.Config.Raw), read(req.Plan.Raw)
	if _, has := plan["project"]; has && config["project"] == nil {
		switch byDefault := r.api.defaultProject(); {
		case byDefault != nil:
			plan["project"] = byDefault
		case r.api != nil && !r.api.open:
			resp.Diagnostics.AddAttributeError(path.Root("project"), "No project", errNoProject.Error())
			return
		default: // the provider's project is not known yet
			plan["project"] = unknown{}
		}
	}
	for _, f := range r.all() {
		r.settle(f, config, plan, prior)
		if prior != nil && f.replace && !f.equal(plan[f.name], prior[f.name], prior.text("project")) {
			resp.RequiresReplace = append(resp.RequiresReplace, path.Root(f.name))
		}
	}
	replaced := len(resp.RequiresReplace) > 0
	if replaced && protected {
		r.protects(&resp.Diagnostics, prior)
		return
	}
	if keysKnown(r.kind, plan) && !replaced {
		plan["id"] = r.id(plan)
	}
	switch {
	case prior != nil && replaced:
		r.enter(ctx, &resp.Diagnostics, prior, h, intentRelease, false)
	case prior != nil:
		r.enter(ctx, &resp.Diagnostics, plan, h, intentKeep, false)
	default: // after a plan for a replacement, Terraform calls ModifyPlan again without the state but with its private part
		r.incompatible(&resp.Diagnostics, config)
		r.enter(ctx, &resp.Diagnostics, plan, h, intentCreate, h.Token != "")
		if h.Token != "" && keysKnown(r.kind, plan) {
			r.replaceable(ctx, &resp.Diagnostics, plan, h)
		}
	}
	resp.Plan.Raw = write(ctx, req.Plan.Raw.Type(), r.all(), plan)
}

// enter records the intent of a resource in the registry. If the keys of its object are not known yet, enter does nothing.
func (r *managed) enter(ctx context.Context, to *diag.Diagnostics, v values, h holding, as intent, replaces bool) {
	if !keysKnown(r.kind, v) {
		return
	}
	e := entry{intent: as, replaces: replaces, what: r.called(v)}
	p := planned{entry: e, path: r.at(v), token: h.Token, within: r.within(v)}
	err := r.registry.plan(p)
	if shared, ok := err.(*sharedError); ok && shared.with != intentCreate && as != intentCreate { //nolint:errorlint // the registry wraps nothing
		err = r.resolveConflict(ctx, v, h, p, err)
	}
	if err == nil && r.slot != nil && as != intentRelease {
		if slot := r.slot(v); slot != "" && r.registry.plan(planned{entry: e, path: slot, token: h.Token}) != nil {
			err = &defaultError{what: e.what}
		}
	}
	if err != nil {
		diagnose(to, r.kind, r.all(), err, "")
	}
}

// resolveConflict decides a conflict in the registry with the annotation on the object, which identifies the resource that manages it. Terraform may
// plan a resource before it reads the resource's object. Such a resource may no longer manage the object.
func (r *managed) resolveConflict(ctx context.Context, v values, h holding, p planned, shared error) error {
	ctx, cancel := within(ctx, v, "read")
	defer cancel()
	d, err := r.fetch(ctx, r.api, v)
	switch mark := d.annotation(holder); {
	case err != nil || mark == "" || h.Imported:
		return shared
	case mark == h.Mark:
		return r.registry.prefer(p)
	case p.intent == intentRelease:
		return nil // the deletion leaves the object alone
	default:
		return shared
	}
}

// replaceable checks with a dry run whether the server would delete the object that a replacement destroys. Without this check, an apply could stop
// between the deletions and the creations.
func (r *managed) replaceable(ctx context.Context, to *diag.Diagnostics, plan values, h holding) {
	ctx, cancel := within(ctx, plan, "read")
	defer cancel()
	d, err := r.fetch(ctx, r.api, plan)
	if err != nil || h.lost(d) {
		return // the object has another name, or no longer exists
	}
	_, err = r.api.call(ctx, http.MethodDelete, queried(r.at(plan), "dryRun=true"), "", nil)
	if p, ok := client.AsProblem(err); ok && (p.Code == client.ProblemCodeInUse || p.Code == client.ProblemCodeAllocationRetained) {
		diagnose(to, r.kind, r.all(), &fullError{kind: r.kind, id: r.id(plan), detail: p.Detail}, "")
	}
}

// incompatible refuses attributes that a new object cannot have together. An existing object may have them together, because the server has set some
// of them.
func (r *managed) incompatible(to *diag.Diagnostics, config values) {
	if r.incoherent == nil {
		return
	}
	for _, f := range r.incoherent(config) {
		to.AddAttributeError(path.Root(f.name), "Invalid "+f.name, f.detail)
	}
}

func keysKnown(k kind, v values) bool {
	for _, key := range k.keys() {
		if !known(v[key]) {
			return false
		}
	}
	return true
}

// settle sets the planned value of one attribute.
func (r *managed) settle(f field, config, plan, prior values) {
	switch {
	case f.name == "project":
	case config[f.name] != nil:
		if prior != nil && prior[f.name] != nil && f.equal(config[f.name], prior[f.name], prior.text("project")) {
			plan[f.name] = prior[f.name]
		}
	case f.def != nil:
		plan[f.name] = f.def
	case prior != nil && f.optionalComputed():
		plan[f.name] = prior[f.name]
	}
}
