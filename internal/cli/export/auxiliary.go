package export

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// auxiliary contains a project's objects that hold no addresses. Only the Terraform export contains them.
type auxiliary struct {
	alertRules  map[string]client.AlertRule
	webhooks    map[string]client.Webhook
	attachments []outAttachment
}

// outAttachment is a consumer that is attached to a claim.
type outAttachment struct {
	claim string
	client.ConsumerAttachment
}

// gatherAuxiliary reads the alert rules, the webhooks and the claims' consumers.
func (v *inventory) gatherAuxiliary(ctx context.Context, s *session.Session) error {
	var err error
	if v.alertRules, err = converge.List(ctx, s, nil, s.In("alert-rules"), nil, func(r client.AlertRule) string { return r.Metadata.Name }); err != nil {
		return err
	}
	if v.webhooks, err = converge.List(ctx, s, nil, s.In("webhooks"), nil, func(w client.Webhook) string { return w.Metadata.Name }); err != nil {
		return err
	}
	return v.gatherAttachments(ctx, s)
}

// gatherAttachments reads the consumers. Each claim with consumers needs a request.
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
			all, err := converge.List(ctx, s, nil, s.In("claims", name, "consumers"), nil, func(a client.ConsumerAttachment) string { return a.Realm + "/" + a.UID })
			for _, a := range show.Sorted(all) {
				of[n] = append(of[n], outAttachment{name, a})
			}
			return err
		})
	}
	err := g.Wait()
	v.attachments = slices.Concat(of...)
	return err
}
