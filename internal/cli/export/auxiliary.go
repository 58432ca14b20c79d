package export

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// auxiliary contains the objects of a project that hold no addresses. Only the Terraform export contains them.
type auxiliary struct {
	alertRules  []client.AlertRule
	webhooks    []client.Webhook
	attachments []outAttachment
}

// outAttachment is a consumer that is attached to a claim of the project.
type outAttachment struct {
	claim string
	client.ConsumerAttachment
}

// gatherAuxiliary reads the alert rules, the webhooks and the consumers of the claims that the inventory has.
func (v *inventory) gatherAuxiliary(ctx context.Context, s *session.Session) error {
	rules, err := snapshot.List(ctx, s, s.In("alert-rules"), nil, func(r client.AlertRule) string { return r.Metadata.Name })
	if err != nil {
		return err
	}
	webhooks, err := snapshot.List(ctx, s, s.In("webhooks"), nil, func(w client.Webhook) string { return w.Metadata.Name })
	if err != nil {
		return err
	}
	v.alertRules, v.webhooks = sorted(rules), sorted(webhooks)
	return v.gatherAttachments(ctx, s)
}

// gatherAttachments reads the consumers of each claim that has some. Each of these claims needs a request.
func (v *inventory) gatherAttachments(ctx context.Context, s *session.Session) error {
	const parallel = 4
	of := make([][]outAttachment, len(v.claims))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for n, c := range v.claims {
		if c.Status.Consumers == 0 {
			continue
		}
		g.Go(func() error {
			name := c.Metadata.Name
			all, err := snapshot.List(ctx, s, s.In("claims", name, "consumers"), nil, func(a client.ConsumerAttachment) string { return a.Realm + "/" + a.UID })
			for _, a := range sorted(all) {
				of[n] = append(of[n], outAttachment{name, a})
			}
			return err
		})
	}
	err := g.Wait()
	v.attachments = slices.Concat(of...)
	return err
}

// sorted returns the things of a list in the order of their names.
func sorted[T any](byName map[string]T) (out []T) {
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name])
	}
	return out
}
