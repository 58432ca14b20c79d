package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// managed is the resource of a kind.
type managed struct {
	kind
	api *api
}

// attempts bounds how often something is read again that somebody else has changed meanwhile.
const attempts = 5

// Metadata names the resource.
func (r *managed) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + r.name
	resp.ResourceBehavior.MutableIdentity = false
}

// Configure takes what the provider has made.
func (r *managed) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.api, _ = req.ProviderData.(*api)
}

// Create makes one, or takes over one that this configuration made in an apply that was cut off.
func (r *managed) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config := read(req.Plan.Raw), read(req.Config.Raw)
	r.complete(config, plan)
	ctx, cancel := within(ctx, plan, "create")
	defer cancel()
	d, err := r.create(ctx, config)
	if err == nil {
		d, err = r.change(ctx, d, d.text("/metadata/uid"), config)
	}
	if err != nil {
		r.refused(ctx, &resp.Diagnostics, config, err)
		return
	}
	v := r.state(d, plan, r.all())
	resp.State.Raw = write(ctx, req.Plan.Raw.Type(), r.all(), v)
	r.identified(ctx, resp.Identity, v)
}

// complete takes what one is found by from the plan, which has the defaults.
func (r *managed) complete(config, plan values) {
	for _, f := range r.fields {
		if f.key {
			config[f.name] = plan[f.name]
		}
	}
}

// create makes one. Who has made what is there already is told by its mark, or by its creator where there is no mark.
func (r *managed) create(ctx context.Context, config values) (document, error) {
	madeBy, at := r.api.mark(), r.at(config)
	var d document
	var err error
	switch {
	case r.into != "":
		d, err = r.api.call(ctx, http.MethodPost, fill(r.into, config)+r.parameters(config), "", r.body(config, madeBy))
	case r.marked:
		d, err = r.api.call(ctx, http.MethodPut, at, "", r.body(config, madeBy))
	default:
		d, err = r.api.call(ctx, http.MethodPut, at, "*", r.body(config, madeBy))
	}
	switch client.CodeOf(err) {
	case client.ProblemCodeAlreadyExists, client.ProblemCodePreconditionFailed:
		found, missing := r.api.call(ctx, http.MethodGet, at, "", nil)
		if missing != nil {
			return nil, err
		}
		d = found
	default:
		if err != nil {
			return nil, err
		}
	}
	own := err == nil // what creates only has made what it answers
	if err != nil || r.marked {
		var asked error
		if own, asked = r.own(ctx, d, madeBy); asked != nil {
			return nil, asked
		}
	}
	if !own {
		return nil, &existsError{kind: r.kind, id: r.id(config), by: d.text("/metadata/createdBy"), madeBy: d.madeBy()}
	}
	if differs := r.differs(d, config); err != nil && differs != "" {
		return nil, &existsError{kind: r.kind, id: r.id(config), differs: differs}
	}
	if r.secret() != "" && d[r.secret()] == nil {
		return r.again(ctx, d, config, err == nil)
	}
	return d, nil
}

// own reports whether this configuration has made what is there.
func (r *managed) own(ctx context.Context, d document, madeBy string) (bool, error) {
	if r.marked {
		return d.madeBy() == madeBy, nil
	}
	subject, err := r.api.subject(ctx)
	return err == nil && d.text("/metadata/createdBy") == subject, err
}

func (d document) madeBy() string {
	annotations, _ := d.get("/metadata/annotations").(map[string]any)
	by, _ := annotations[mark].(string)
	return by
}

// differs names an attribute that cannot be changed and is not as it is configured.
func (r *managed) differs(d document, config values) string {
	for _, f := range r.all() {
		if f.replace && !f.local() && !f.key && config[f.name] != nil && f.name != "labels" && f.name != "annotations" &&
			!f.equal(config[f.name], f.found(d), config.text("project")) {
			return f.name
		}
	}
	return ""
}

// secret is where the answer to creation has what is never told again.
func (r *managed) secret() string {
	for _, f := range r.fields {
		if f.secret {
			return f.name
		}
	}
	return ""
}

// again replaces one whose secret was in an answer that never arrived: it was made by this very call, and nobody has its secret.
func (r *managed) again(ctx context.Context, d document, config values, thisCall bool) (document, error) {
	if !thisCall {
		return nil, &existsError{kind: r.kind, id: r.id(config), lost: true}
	}
	if _, err := r.api.call(ctx, http.MethodDelete, r.at(config), revision(d), nil); err != nil && !client.IsNotFound(err) {
		return nil, err
	}
	return r.create(ctx, config)
}

// Read reads one again. What was deleted, or was made anew by somebody else, is no longer there.
func (r *managed) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	prior := read(req.State.Raw)
	r.identified(ctx, resp.Identity, prior) // also of what is gone, or the framework complains
	ctx, cancel := within(ctx, prior, "read")
	defer cancel()
	d, err := r.api.call(ctx, http.MethodGet, r.at(prior), "", nil)
	switch {
	case client.IsNotFound(err) || err == nil && r.gone != nil && r.gone(d):
		resp.State.RemoveResource(ctx)
		return
	case err != nil:
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	case r.another(d, prior.text("uid")):
		other := &otherError{kind: r.kind, id: r.id(prior)}
		resp.Diagnostics.AddWarning(other.title(), other.Error())
		resp.State.RemoveResource(ctx)
		return
	}
	resp.State.Raw = write(ctx, req.State.Raw.Type(), r.all(), r.state(d, prior, r.all()))
}

// another reports whether what is there is not the one of a uid. Without a uid nobody can tell.
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

// Update changes the object of the state as it is planned, and never another one of its name. The plan, and not the configuration, has what `ignore_changes`
// keeps.
func (r *managed) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	plan, config := read(req.Plan.Raw), read(req.Config.Raw)
	ctx, cancel := within(ctx, plan, "update")
	defer cancel()
	d, err := r.change(ctx, nil, read(req.State.Raw).text("uid"), r.wanted(plan, config))
	if err != nil {
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	}
	v := r.state(d, plan, r.all())
	resp.State.Raw = write(ctx, req.Plan.Raw.Type(), r.all(), v)
	r.identified(ctx, resp.Identity, v)
}

// wanted are the values of a plan, without those that the server decides.
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

// change makes the one of a uid as it is configured, and sends nothing when it is. Without a document it is read.
func (r *managed) change(ctx context.Context, d document, uid string, config values) (document, error) {
	for attempt := 1; ; attempt++ {
		var err error
		if d == nil {
			if d, err = r.api.call(ctx, http.MethodGet, r.at(config), "", nil); err != nil {
				return nil, err
			}
		}
		if r.another(d, uid) {
			return nil, &otherError{kind: r.kind, id: r.id(config)}
		}
		patch, err := difference(d, r.desired(d, config))
		if err != nil || patch == nil {
			return d, err
		}
		var changed document
		switch {
		case r.patched:
			changed, err = r.api.call(ctx, http.MethodPatch, r.at(config)+r.parameters(config), revision(d), patch)
		case r.lockless:
			changed, err = r.api.call(ctx, http.MethodPut, r.at(config), "", r.body(config, ""))
		default:
			changed, err = r.api.call(ctx, http.MethodPut, r.at(config), revision(d), r.body(config, ""))
		}
		if !client.IsConflict(err) || attempt == attempts {
			return changed, err
		}
		d = nil
	}
}

// Delete deletes the very one that is in the state, and never another one of its name.
func (r *managed) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	prior := read(req.State.Raw)
	ctx, cancel := within(ctx, prior, "delete")
	defer cancel()
	if protected, _ := prior[protectionField.name].(bool); protected {
		r.protects(&resp.Diagnostics, prior)
		return
	}
	for attempt := 1; ; attempt++ {
		d, err := r.api.call(ctx, http.MethodGet, r.at(prior), "", nil)
		if err == nil && !r.another(d, prior.text("uid")) {
			tag := revision(d)
			if r.lockless {
				tag = ""
			}
			_, err = r.api.call(ctx, http.MethodDelete, r.at(prior), tag, nil)
		}
		if client.IsConflict(err) && attempt < attempts {
			continue
		}
		if err != nil && !client.IsNotFound(err) {
			r.refused(ctx, &resp.Diagnostics, nil, err)
		}
		return
	}
}

func (r *managed) protects(to *diag.Diagnostics, v values) {
	to.AddAttributeError(path.Root(protectionField.name), "It is protected from deletion", fmt.Sprintf(
		"The %s %s has deletion_protection, so it is neither destroyed nor replaced. To do so, set deletion_protection = false and apply that first.",
		r.words(), r.id(v)))
}

// revision is the ETag of a document.
func revision(d document) string { return strconv.Quote(d.text("/metadata/revision")) }

// within bounds an operation by the resource's timeouts.
func within(ctx context.Context, v values, operation string) (context.Context, context.CancelFunc) {
	bound := defaultTimeout
	timeouts, _ := v[timeoutsField.name].(map[string]any)
	if s, ok := timeouts[operation].(string); ok {
		if d, err := time.ParseDuration(s); err == nil {
			bound = d
		}
	}
	return context.WithTimeoutCause(ctx, bound, errors.New("the time of timeouts."+operation+" is over"))
}
