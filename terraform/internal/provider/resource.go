package provider

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"

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

// Read refreshes the state of an object. It removes the object from the state in three cases:
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
		resp.Diagnostics.AddWarning(err.title(), err.Error())
		r.forget(ctx, resp)
		return
	}
	if h.Imported {
		h.Imported, h.Mark = false, d.annotation(holder)
		resp.Diagnostics.Append(h.store(ctx, resp.Private)...)
	}
	r.registry.recordState(r.at(prior))
	resp.State.Raw = write(ctx, req.State.Raw.Type(), r.all(), r.state(d, prior, r.all()))
}

// forget removes the object and its holding from the state. Terraform would otherwise pass this holding to the plan for the next object.
func (r *managed) forget(ctx context.Context, resp *resource.ReadResponse) {
	resp.State.RemoveResource(ctx)
	resp.Diagnostics.Append(holding{}.store(ctx, resp.Private)...)
}

// check returns an error if the object has another UID, or if another resource has taken it over.
func (r *managed) check(d document, v values, uid string, h holding) titled {
	switch {
	case r.another(d, uid):
		return &otherError{kind: r.kind, id: r.id(v)}
	case h.lost(d):
		return &takenError{kind: r.kind, id: r.id(v)}
	default:
		return nil
	}
}

// another reports whether the existing object has another UID than the state. If the state has no UID, it returns false.
func (r *managed) another(d document, uid string) bool {
	return uid != "" && r.hasUID() && d.text("/metadata/uid") != uid
}

func (r *managed) hasUID() bool {
	for _, f := range r.fields {
		if f.name == "uid" {
			return !f.key
		}
	}
	return false
}

// Update changes the object to the values of the plan. It does not use the configuration for that, because only the plan respects `ignore_changes`.
func (r *managed) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, config := read(req.Plan.Raw), read(req.Config.Raw)
	ctx, cancel := within(ctx, plan, "update")
	defer cancel()
	d, err := r.change(ctx, nil, r.wanted(plan, config), read(req.State.Raw).text("uid"), holdingOf(ctx, req.Private))
	if err != nil {
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	}
	v := r.state(d, plan, r.all())
	resp.State.Raw = write(ctx, req.Plan.Raw.Type(), r.all(), v)
	r.identified(ctx, resp.Identity, v)
}

// wanted returns the values of a plan without the values that the server decides.
func (k kind) wanted(plan, config values) values {
	v := maps.Clone(plan)
	for _, f := range k.all() {
		decided := config[f.name] == nil && f.optionalComputed() && f.def == nil && !f.key
		if _, open := v[f.name].(unknown); open || decided {
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
		var changed document
		switch {
		case r.patched:
			changed, err = r.api.call(ctx, http.MethodPatch, r.at(want)+r.parameters(want), revision(d), patch)
		case r.lockless:
			changed, err = r.api.call(ctx, http.MethodPut, r.at(want), "", r.body(want, nil))
		default:
			changed, err = r.api.call(ctx, http.MethodPut, r.at(want), revision(d), r.body(want, nil))
		}
		if !client.IsConflict(err) || attempt == attempts {
			return changed, err
		}
		d = nil
	}
}

// revision returns a document's ETag.
func revision(d document) string { return strconv.Quote(d.text("/metadata/revision")) }

// within limits the duration of an operation by the resource's timeouts.
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
