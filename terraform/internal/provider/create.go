package provider

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// Create creates an object. If the object exists, Create takes it over under two conditions. An interrupted apply of this configuration must have
// made it, and no other resource may manage it.
func (r *managed) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config := read(req.Plan.Raw), read(req.Config.Raw)
	r.complete(config, plan)
	ctx, cancel := within(ctx, plan, "create")
	defer cancel()
	path, h := r.at(config), newHolding()
	defer r.registry.lock(path)()
	if err := r.registry.begin(path, h.Token, r.called(config)); err != nil {
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	}
	d, err := r.create(ctx, config, h)
	if err == nil {
		d, err = r.change(ctx, d, config, d.text("/metadata/uid"), h)
	}
	if err != nil {
		r.registry.end(path, h.Token)
		r.refused(ctx, &resp.Diagnostics, config, err)
		return
	}
	resp.Diagnostics.Append(h.store(ctx, resp.Private)...)
	v := r.state(d, plan, r.all())
	resp.State.Raw = write(ctx, req.Plan.Raw.Type(), r.all(), v)
	r.identified(ctx, resp.Identity, v)
}

// complete copies the keys from the plan to the configuration. The plan has the keys' default values.
func (r *managed) complete(config, plan values) {
	for _, f := range r.fields {
		if f.key {
			config[f.name] = plan[f.name]
		}
	}
}

// create creates an object or takes over the existing one.
func (r *managed) create(ctx context.Context, config values, h holding) (document, error) {
	ctx, silent := withCounter(ctx)
	var d document
	var err error
	switch at := r.at(config); {
	case r.into != "":
		d, err = r.api.call(ctx, http.MethodPost, fill(r.into, config)+r.parameters(config), "", r.body(config, r.api.marksOf(h)))
	case r.marked:
		d, err = r.api.call(ctx, http.MethodPut, at, "", r.body(config, r.api.marksOf(h)))
	default:
		d, err = r.api.call(ctx, http.MethodPut, at, "*", r.body(config, nil))
	}
	if err != nil {
		if d = r.existing(ctx, config, err); d == nil {
			return nil, err
		}
	}
	if err == nil && r.blank {
		return document{}, nil // the response describes the container and not this object
	}
	if err == nil && !r.marked || r.marked && d.annotation(holder) == h.Mark {
		if r.secret() != "" && d[r.secret()] == nil {
			return r.recreate(ctx, d, config, h)
		}
		return d, nil
	}
	taken, refused := r.takeOver(ctx, d, config, h, silent.Load() > 0)
	if exists, ok := refused.(*existsError); ok && exists.isForeign() && err != nil && !slices.Contains(nameIsTaken, client.CodeOf(err)) { //nolint:errorlint // takeOver wraps nothing
		return nil, err
	}
	return taken, refused
}

// nameIsTaken lists the refusals that an existing object with the same name can cause. Overlap and block_taken are in the list, because the server
// checks a pool's block before its name.
var nameIsTaken = []client.ProblemCode{
	client.ProblemCodeAlreadyExists, client.ProblemCodePreconditionFailed, client.ProblemCodeOverlap, client.ProblemCodeBlockTaken,
}

// existing reads the object that has the name after the server has refused to create another one. If no object can be the cause of the refusal, it
// returns nil.
func (r *managed) existing(ctx context.Context, config values, refused error) document {
	p, ok := client.AsProblem(refused)
	if !ok || p.Status >= http.StatusInternalServerError {
		return nil
	}
	switch p.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return nil
	}
	d, err := r.fetch(ctx, r.api, config)
	if err != nil || r.gone != nil && r.gone(d) {
		return nil
	}
	return d
}

// takeOver makes an existing object the object of this resource. It writes this resource's mark into the object's annotation. The resource that had
// the object before can then detect the change.
func (r *managed) takeOver(ctx context.Context, d document, config values, h holding, silent bool) (document, error) {
	for attempt := 1; ; attempt++ {
		mine, err := r.isOwn(ctx, d, config, silent)
		switch {
		case err != nil:
			return nil, err
		case !mine:
			return nil, &existsError{kind: r.kind, id: r.id(config), by: d.text("/metadata/createdBy"), madeBy: d.annotation(madeBy)}
		case r.secret() != "":
			return nil, &existsError{kind: r.kind, id: r.id(config), lost: true}
		}
		if differs := r.differs(d, config); differs != "" {
			return nil, &existsError{kind: r.kind, id: r.id(config), differs: differs}
		}
		if !r.marked {
			return d, nil
		}
		patch := document{"metadata": map[string]any{"annotations": r.api.marksOf(h)}}
		changed, err := r.api.call(ctx, http.MethodPatch, r.at(config), revision(d), patch)
		if !client.IsConflict(err) || attempt == attempts {
			return changed, err
		}
		switch d, err = r.fetch(ctx, r.api, config); {
		case client.IsNotFound(err):
			return r.create(ctx, config, h)
		case err != nil:
			return nil, err
		}
	}
}

// isOwn reports whether this configuration made the object. silent is true if an attempt of this call got no clear response.
//
//   - An object of a marked kind has annotations. They name the owner that made the object.
//   - A grant, a quota, a member and a consumer have no annotations. Such an object belongs to this configuration if the same credential made it. In
//     addition, the provider must have an owner, or silent must be true.
//   - An attachment does not record its creator. The same credential must have made its consumer, because that credential could end the consumer and
//     its attachment anyway.
func (r *managed) isOwn(ctx context.Context, d document, config values, silent bool) (bool, error) {
	if r.marked {
		return r.api.owner != "" && d.annotation(madeBy) == r.api.owner, nil
	}
	if r.api.owner == "" && !silent {
		return false, nil
	}
	subject, err := r.api.subject(ctx)
	if err != nil {
		return false, err
	}
	by := d.text("/metadata/createdBy")
	if r.maker != nil {
		by, err = r.maker(ctx, r.api, config)
	}
	return err == nil && by == subject, err
}

// differs returns the name of an attribute that cannot be changed and that differs from the configuration.
func (r *managed) differs(d document, config values) string {
	for _, f := range r.all() {
		if f.replace && !f.local() && !f.key && config[f.name] != nil && f.name != "labels" && f.name != "annotations" &&
			!f.equal(config[f.name], f.found(d), config.text("project")) {
			return f.name
		}
	}
	return ""
}

// secret returns the name of the attribute that only the response to the creation contains. If there is none, it returns an empty text.
func (r *managed) secret() string {
	for _, f := range r.fields {
		if f.secret {
			return f.name
		}
	}
	return ""
}

// recreate deletes an object that this call made and creates it again. The response with the object's secret was lost, and the server does not return
// the secret again.
func (r *managed) recreate(ctx context.Context, d document, config values, h holding) (document, error) {
	if _, err := r.api.call(ctx, http.MethodDelete, r.at(config), revision(d), nil); err != nil && !client.IsNotFound(err) {
		return nil, err
	}
	return r.create(ctx, config, h)
}

// unclearKey is the context key of the counter that [withCounter] adds.
type unclearKey struct{}

// withCounter adds a counter to the context. [retryTransport] counts the requests that failed without a clear response. The server may have carried
// out such a request.
func withCounter(ctx context.Context) (context.Context, *atomic.Int64) {
	n := &atomic.Int64{}
	return context.WithValue(ctx, unclearKey{}, n), n
}

// countUnclear increments the context's counter.
func countUnclear(ctx context.Context) {
	if n, ok := ctx.Value(unclearKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}
