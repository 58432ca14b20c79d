package provider

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/carve-ipam/carve/client"
)

// Create creates an object. If the object exists, Create takes it over under two conditions. An interrupted apply must have made it for this
// configuration, and no other resource may manage it.
func (r *managed) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	plan, config := read(req.Plan.Raw), read(req.Config.Raw)
	for _, f := range r.keys() {
		config[f.name] = plan[f.name] // the plan has the default values
	}
	ctx, cancel := within(ctx, plan, "create")
	defer cancel()
	path, h := r.at(config), newHolding()
	defer r.registry.lock(path)()
	if err := r.registry.begin(path, h.Token, r.called(config)); err != nil {
		r.refused(ctx, &resp.Diagnostics, nil, err)
		return
	}
	former := r.formerDefault(ctx, config, nil)
	d, err := r.create(ctx, &resp.Diagnostics, config, h)
	if err == nil {
		d, err = r.change(ctx, d, config, d.text("/metadata/uid"), h)
	}
	if err != nil {
		r.registry.end(path, h.Token)
		r.refused(ctx, &resp.Diagnostics, config, err)
		return
	}
	r.warnOfDefault(&resp.Diagnostics, former, config)
	resp.Diagnostics.Append(h.store(ctx, resp.Private)...)
	r.save(ctx, &resp.State, resp.Identity, d, plan)
}

// create creates an object or takes over the existing one.
func (r *managed) create(ctx context.Context, to *diag.Diagnostics, config values, h holding) (document, error) {
	ctx, silent := withCounter(ctx)
	method, at, tag := http.MethodPut, r.at(config), ""
	switch {
	case r.posted():
		_, query := r.role(config)
		method, at = http.MethodPost, collection(at)+query
	case !r.marked:
		tag = "*"
	}
	d, err := r.api.call(ctx, method, at, tag, r.body(config, r.api.marksOf(h)))
	if err != nil {
		if d = r.existing(ctx, config, err); d == nil {
			return nil, err
		}
	}
	if err == nil && r.blank {
		return document{}, nil // the response describes the container and not this object
	}
	if err == nil && !r.marked || r.marked && d.annotation(holder) == h.Mark {
		if r.secret() == "" || d[r.secret()] != nil {
			return d, nil
		}
		// The response with the object's secret was lost, and the server does not return the secret again.
		if err := r.api.remove(ctx, r.at(config), revision(d)); err != nil {
			return nil, err
		}
		return r.create(ctx, to, config, h)
	}
	taken, refused := r.takeOver(ctx, to, d, config, h, silent.Load() > 0)
	if own, ok := refused.(*ownError); ok && own.foreign && err != nil && !slices.Contains(nameIsTaken, client.CodeOf(err)) { //nolint:errorlint // takeOver wraps nothing
		return nil, err
	}
	return taken, refused
}

// nameIsTaken lists the refusals that an existing object with the same name can cause. Overlap and block_taken are in the list, because the server
// checks a pool's block before its name.
var nameIsTaken = []client.ProblemCode{
	client.ProblemCodeAlreadyExists, client.ProblemCodePreconditionFailed, client.ProblemCodeOverlap, client.ProblemCodeBlockTaken,
}

// otherCause lists the statuses that no existing object can cause.
var otherCause = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests}

// existing reads the object that has the name after the server has refused to create another one. If no object can be the reason, it returns nil.
func (r *managed) existing(ctx context.Context, config values, refused error) document {
	p, ok := client.AsProblem(refused)
	if !ok || p.Status >= http.StatusInternalServerError || slices.Contains(otherCause, p.Status) {
		return nil
	}
	d, err := r.fetch(ctx, r.api, config)
	if err != nil || r.gone != nil && r.gone(d) {
		return nil
	}
	return d
}

// takeOver makes this resource the manager of an existing object. It writes this resource's mark into the object's annotation. The resource that had
// the object before can then detect the change. An object without annotations must be equal to the configuration, and takeOver warns: another
// configuration may have the object, and nobody can detect it.
func (r *managed) takeOver(ctx context.Context, to *diag.Diagnostics, d document, config values, h holding, silent bool) (document, error) {
	for attempt := 1; ; attempt++ {
		mine, err := r.isOwn(ctx, d, config, silent)
		switch {
		case err != nil:
			return nil, err
		case !mine:
			return nil, r.foreignError(config, d)
		case r.secret() != "":
			return nil, r.lostError(config)
		}
		if differs := r.differs(d, config); differs != "" {
			return nil, r.differsError(config, differs)
		}
		if !r.marked {
			adopted := r.adoptedWarning(config)
			to.AddWarning(adopted.title, adopted.text)
			return d, nil
		}
		patch := document{"metadata": map[string]any{"annotations": r.api.marksOf(h)}}
		changed, err := r.api.call(ctx, http.MethodPatch, r.at(config), revision(d), patch)
		if !client.IsConflict(err) || attempt == attempts {
			return changed, err
		}
		switch d, err = r.fetch(ctx, r.api, config); {
		case client.IsNotFound(err):
			return r.create(ctx, to, config, h)
		case err != nil:
			return nil, err
		}
	}
}

// isOwn reports whether this configuration made the object. silent is true if an attempt in this call got no clear response.
//
//   - An object with annotations names the owner that made it.
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

// differs returns the name of an attribute that differs from the configuration and prevents the takeover. For an object with annotations, only the
// attributes in the configuration that cannot be changed matter. For other objects, all attributes matter.
func (r *managed) differs(d document, config values) string {
	for _, f := range r.all() {
		changes := r.marked && (!f.replace || config[f.name] == nil || f.name == "labels" || f.name == "annotations")
		if !changes && !f.local() && !f.output() && !f.decided(config) && !f.as(config[f.name], d, config.text("project")) {
			return f.name
		}
	}
	return ""
}

// secret returns the name of the attribute that only the response to the creation contains, or an empty text.
func (r *managed) secret() string {
	for _, f := range r.fields {
		if f.secret {
			return f.name
		}
	}
	return ""
}

// unclearKey is the context key for the counter that [withCounter] adds.
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
