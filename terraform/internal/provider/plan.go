package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// ValidateConfig says what is wrong before anything is asked of a server.
func (r *managed) ValidateConfig(_ context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	config := read(req.Config.Raw)
	for _, f := range faults(r.kind, r.all(), config) {
		resp.Diagnostics.AddAttributeError(f.at, "Invalid "+f.name, f.detail)
	}
}

// located is a fault with its place.
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

// faults of a value, and of what is in it.
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

// ModifyPlan fills in what is known before apply, keeps what means the same, and says what cannot be changed.
func (r *managed) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	prior := read(req.State.Raw)
	protected, _ := prior[protectionField.name].(bool)
	if req.Plan.Raw.IsNull() {
		if protected {
			r.protects(&resp.Diagnostics, prior)
		}
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
		default: // the provider's is not known yet
			plan["project"] = unknown{}
		}
	}
	for _, f := range r.all() {
		r.settle(f, config, plan, prior)
		if prior != nil && f.replace && !f.equal(plan[f.name], prior[f.name], prior.text("project")) {
			resp.RequiresReplace = append(resp.RequiresReplace, path.Root(f.name))
		}
	}
	if len(resp.RequiresReplace) > 0 && protected {
		r.protects(&resp.Diagnostics, prior)
		return
	}
	if keysKnown(r.kind, plan) && (prior == nil || len(resp.RequiresReplace) == 0) {
		plan["id"] = r.id(plan)
	}
	if prior == nil {
		r.incompatible(&resp.Diagnostics, config)
	}
	resp.Plan.Raw = write(ctx, req.Plan.Raw.Type(), r.all(), plan)
}

// incompatible refuses attributes that a new object cannot have together. An object that exists can: its attributes say what it got.
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

// settle plans one attribute.
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
