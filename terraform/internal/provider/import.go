package provider

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// ImportState sets the object's keys from its id or its identity. Terraform then reads the other attributes.
func (r *managed) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	var v values
	if req.ID != "" {
		var err error
		project, _ := r.api.defaultProject().(string)
		if v, err = r.find(req.ID, project); err != nil {
			resp.Diagnostics.AddError("Not an id of a "+r.words(), err.Error())
			return
		}
	} else {
		v = read(req.Identity.Raw)
		if _, has := v["project"]; has && v["project"] == nil {
			v["project"] = r.api.defaultProject()
		}
	}
	for _, f := range r.keys() {
		if wrong := f.wrong(v[f.name]); wrong != "" {
			resp.Diagnostics.AddAttributeError(path.Root(f.name), "Not an id of a "+r.words(), f.name+": "+wrong)
		}
	}
	v["id"] = r.id(v)
	resp.State.Raw = write(ctx, r.all(), v)
	r.identified(ctx, resp.Identity, v)
	resp.Diagnostics.Append(holding{Token: uuid.NewString(), Imported: true}.store(ctx, resp.Private)...)
}

// identified writes the keys into the resource's identity.
func (r *managed) identified(ctx context.Context, to *tfsdk.ResourceIdentity, v values) {
	if to != nil {
		to.Raw = write(ctx, r.keys(), v)
	}
}

// UpgradeState converts a state from an older schema. It keeps the attributes that still exist. The next read gets all other attributes from the
// server.
func (r *managed) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	return map[int64]resource.StateUpgrader{0: {StateUpgrader: r.upgrade}}
}

func (r *managed) upgrade(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
	old := map[string]json.RawMessage{}
	if err := json.Unmarshal(req.RawState.JSON, &old); err != nil {
		resp.Diagnostics.AddError("The state of an older version cannot be read", err.Error())
		return
	}
	v := values{}
	for _, f := range r.all() {
		if text, has := old[f.name]; has {
			if is, err := tftypes.ValueFromJSON(text, f.attrType().TerraformType(ctx)); err == nil { //nolint:staticcheck // what cannot be read is read from the server
				v[f.name] = plain(is)
			}
		}
	}
	if keys, err := r.find(v.text("id"), ""); err == nil {
		maps.Copy(v, keys)
	}
	resp.State.Raw = write(ctx, r.all(), v)
}
