package provider

import (
	"context"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// ValidateConfig checks the configuration without a request to the server.
func (r *managed) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	validate(&resp.Diagnostics, r.all(), read(req.Config.Raw), r.invalid)
}

// validate reports a configuration's faults. rule may be nil.
func validate(to *diag.Diagnostics, fields []field, config values, rule func(values) []fault) {
	for _, f := range fields {
		f.validate(to, path.Root(f.name), config[f.name])
	}
	if rule == nil {
		return
	}
	for _, f := range rule(config) {
		to.AddAttributeError(path.Root(f.name), "Invalid "+f.name, f.detail)
	}
}

// validate reports the faults in a value.
func (f field) validate(to *diag.Diagnostics, at path.Path, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range f.fields {
			inner.validate(to, at.AtName(inner.name), v[inner.name])
		}
	case []any:
		for i, element := range v {
			f.element().validate(to, at.AtListIndex(i), element)
		}
	}
	if wrong := f.wrong(v); wrong != "" {
		to.AddAttributeError(at, "Invalid "+f.name, f.name+" "+wrong)
	}
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
			r.refused(ctx, &resp.Diagnostics, nil, r.protectedError(prior))
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
			r.refused(ctx, &resp.Diagnostics, nil, errNoProject)
			return
		default: // the provider's project is not known yet
			plan["project"] = unknown{}
		}
	}
	for _, f := range r.all() {
		r.settle(f, config, plan, prior)
		if prior != nil && f.forces() && !f.equal(plan[f.name], prior[f.name], prior.text("project")) {
			resp.RequiresReplace = append(resp.RequiresReplace, path.Root(f.name))
		}
	}
	replaced := len(resp.RequiresReplace) > 0
	if replaced && protected {
		r.refused(ctx, &resp.Diagnostics, nil, r.protectedError(prior))
		return
	}
	if r.keysKnown(plan) && !replaced {
		plan["id"] = r.id(plan)
	}
	switch {
	case prior != nil && replaced:
		r.enter(ctx, &resp.Diagnostics, prior, h, intentRelease, false)
	case prior != nil:
		r.enter(ctx, &resp.Diagnostics, plan, h, intentKeep, false)
	default: // after a plan for a replacement, Terraform calls ModifyPlan again without the state but with its private part
		validate(&resp.Diagnostics, nil, config, r.incoherent)
		r.enter(ctx, &resp.Diagnostics, plan, h, intentCreate, h.Token != "")
		if h.Token != "" && r.keysKnown(plan) {
			r.replaceable(ctx, &resp.Diagnostics, plan, h)
		}
	}
	resp.Plan.Raw = write(ctx, r.all(), plan)
}

// enter records the resource's intent in the registry. If the object's keys are not known yet, enter does nothing.
func (r *managed) enter(ctx context.Context, to *diag.Diagnostics, v values, h holding, as intent, replaces bool) {
	if !r.keysKnown(v) {
		return
	}
	e := entry{intent: as, replaces: replaces, what: r.called(v), mark: h.Mark}
	p := planned{entry: e, path: r.at(v), token: h.Token, within: r.within(v)}
	err := r.registry.plan(p)
	if own, ok := err.(*ownError); ok && own.with != 0 && own.with != intentCreate && as != intentCreate { //nolint:errorlint // the registry wraps nothing
		err = r.resolveConflict(ctx, v, h, p, err)
	}
	if role, _ := r.role(v); err == nil && role != "" && as != intentRelease && r.registry.plan(planned{entry: e, path: role, token: h.Token}) != nil {
		err = defaultError(e.what)
	}
	if err != nil {
		r.refused(ctx, to, nil, err)
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
		r.refused(ctx, to, nil, r.fullError(plan, p.Detail))
	}
}

// keysKnown reports whether all keys are known.
func (k kind) keysKnown(v values) bool {
	return !slices.ContainsFunc(k.keys(), func(f field) bool { return !known(v[f.name]) })
}

// settle sets an attribute's planned value.
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
