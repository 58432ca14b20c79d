package provider

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/carve-ipam/carve/client"
)

// managed is the Terraform resource for one kind.
type managed struct {
	kind
	api      *api
	registry *registry
}

// attempts limits the attempts to change an object while other clients change it too.
const attempts = 5

// Metadata sets the resource's name.
func (r *managed) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.name
	resp.ResourceBehavior.MutableIdentity = false
}

// Configure stores the provider's client.
func (r *managed) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.api, _ = req.ProviderData.(*api)
}

// Read refreshes an object's state. It removes the object from the state in three cases:
//
//   - the object was deleted
//   - another client has created a new object with the same name
//   - another resource has taken the object over
func (r *managed) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	prior, h := read(req.State.Raw), holdingOf(ctx, req.Private)
	r.identified(ctx, resp.Identity, prior) // without this, the framework reports an error if the object no longer exists
	ctx, cancel := within(ctx, prior, "read")
	defer cancel()
	d, err := r.fetch(ctx, r.api, prior)
	switch {
	case client.IsNotFound(err) || err == nil && r.gone != nil && r.gone(d):
		r.forget(ctx, resp)
		return
	case err != nil:
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	}
	if err := r.check(d, prior, prior.text("uid"), h); err != nil {
		resp.Diagnostics.AddWarning(err.title, err.text)
		r.forget(ctx, resp)
		return
	}
	if h.Imported {
		h.Imported, h.Mark = false, d.annotation(holder)
		resp.Diagnostics.Append(h.store(ctx, resp.Private)...)
	}
	r.registry.recordState(r.at(prior))
	r.save(ctx, &resp.State, resp.Identity, d, prior)
}

// save writes an object into the state and its keys into the identity. prior has the planned or earlier values.
func (r *managed) save(ctx context.Context, to *tfsdk.State, identity *tfsdk.ResourceIdentity, d document, prior values) {
	v := r.state(d, prior, r.all())
	to.Raw = write(ctx, r.all(), v)
	r.identified(ctx, identity, v)
}

// forget removes the object and its holding from the state. Terraform would otherwise pass this holding to the plan for the next object.
func (r *managed) forget(ctx context.Context, resp *resource.ReadResponse) {
	resp.State.RemoveResource(ctx)
	resp.Diagnostics.Append(holding{}.store(ctx, resp.Private)...)
}

// check returns an error if the object has another UID, or if another resource has taken it over.
func (r *managed) check(d document, v values, uid string, h holding) *ownError {
	switch {
	case r.another(d, uid):
		return r.otherError(v)
	case h.lost(d):
		return r.takenError(v)
	default:
		return nil
	}
}

// another reports whether the existing object has another UID than the state. If the state has no UID, it returns false.
func (r *managed) another(d document, uid string) bool {
	named := slices.ContainsFunc(r.keys(), func(f field) bool { return f.name == "uid" }) // by the client, and not by the server
	return uid != "" && !named && d.text("/metadata/uid") != uid
}

// Update changes the object to the plan's values. It does not use the configuration for that, because only the plan respects `ignore_changes`.
func (r *managed) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, config := read(req.Plan.Raw), read(req.Config.Raw)
	ctx, cancel := within(ctx, plan, "update")
	defer cancel()
	prior := read(req.State.Raw)
	former := r.formerDefault(ctx, plan, prior)
	d, err := r.change(ctx, nil, r.wanted(plan, config), prior.text("uid"), holdingOf(ctx, req.Private))
	if err != nil {
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	}
	r.warnOfDefault(&resp.Diagnostics, former, plan)
	r.save(ctx, &resp.State, resp.Identity, d, plan)
}

// formerDefault returns the object that stops being the default when this object becomes it. If this configuration made that object, or if the list
// cannot be read, it returns nil.
func (r *managed) formerDefault(ctx context.Context, v, prior values) document {
	role, _ := r.role(v)
	if was, _ := r.role(prior); role == "" || role == was {
		return nil
	}
	for d, err := range r.api.list(ctx, r.listPath(v)) {
		if err != nil {
			return nil
		}
		of := values{"project": d.text("/metadata/project"), "is_default": d.get("/spec/isDefault"), "ip_family": d.text("/spec/ipFamily")}
		is, _ := r.role(of)
		own := d.annotation(holder) != "" && d.annotation(madeBy) == r.api.owner
		if is == role && d.text("/metadata/name") != v.text("name") && !own {
			return d
		}
	}
	return nil
}

// warnOfDefault warns that an object is no longer the default. former may be nil.
func (r *managed) warnOfDefault(to *diag.Diagnostics, former document, v values) {
	if former == nil {
		return
	}
	was := r.called(values{"project": v["project"], "name": former.text("/metadata/name")})
	to.AddWarning("The "+was+" is no longer the default", "The "+r.called(v)+" replaces it. If another configuration manages the "+r.words()+", its next apply may move the default back.")
}

// wanted returns a plan's values without the values that the server decides.
func (k kind) wanted(plan, config values) values {
	v := maps.Clone(plan)
	for _, f := range k.all() {
		if v[f.name] == (unknown{}) || f.decided(config) {
			v[f.name] = nil
		}
	}
	return v
}

// change changes the object with the given UID to the wanted values. If d is nil, it reads the object first. If the object already has equivalent
// values, it sends nothing.
func (r *managed) change(ctx context.Context, d document, want values, uid string, h holding) (document, error) {
	for attempt := 1; ; attempt++ {
		var err error
		if d == nil {
			if d, err = r.fetch(ctx, r.api, want); err != nil {
				return nil, err
			}
		}
		if err := r.check(d, want, uid, h); err != nil {
			return nil, err
		}
		patch, err := difference(d, r.desired(d, want))
		if err != nil || patch == nil {
			return d, err
		}
		method, body := http.MethodPut, r.body(want, nil)
		if r.marked {
			method, body = http.MethodPatch, patch
		}
		_, query := r.role(want)
		changed, err := r.api.call(ctx, method, r.at(want)+query, r.tag(d), body)
		if !client.IsConflict(err) || attempt == attempts {
			return changed, err
		}
		d = nil
	}
}

// revision returns a document's ETag.
func revision(d document) string { return strconv.Quote(d.text("/metadata/revision")) }

// tag returns the ETag that the object must still have when a request changes or deletes it.
func (k kind) tag(d document) string {
	if k.lockless {
		return ""
	}
	return revision(d)
}

// within limits an operation's duration by the resource's timeouts.
func within(ctx context.Context, v values, operation string) (context.Context, context.CancelFunc) {
	bound := defaultTimeout
	timeouts, _ := v[timeoutsField.name].(map[string]any)
	if s, ok := timeouts[operation].(string); ok {
		if d, err := time.ParseDuration(s); err == nil {
			bound = d
		}
	}
	return context.WithTimeoutCause(ctx, bound, errors.New("the operation took longer than timeouts."+operation))
}
