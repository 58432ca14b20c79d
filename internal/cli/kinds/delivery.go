package kinds

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/ipam"
)

// deliveryCommands returns the commands about failed deliveries to a webhook.
func deliveryCommands(p *session.Program, complete verbs.Completion) []*cobra.Command {
	list := verbs.Kind{P: p, View: deliveryView()}.SubListVerb(&cobra.Command{
		Use: "deliveries NAME", Short: "List failed deliveries",
		Long: "Lists deliveries that failed for 24 hours, the oldest first. The server keeps them for 30 days.",
		Args: verbs.Names("webhook", 1, 1), ValidArgsFunction: complete,
	}, func(s *session.Session, args []string) ([]string, session.Query) {
		return s.In("webhooks", args[0], "deliveries"), nil
	})
	verbs.AddSorting(p, list)
	return []*cobra.Command{
		list,
		ofDelivery(p, complete, "retry", "Retry failed deliveries", "retrying", http.MethodPost, "retries"),
		ofDelivery(p, complete, "drop", "Drop failed deliveries", "dropped", http.MethodDelete),
	}
}

func deliveryView() show.View {
	type T = client.WebhookDelivery
	return show.ViewOf("dead letter", `
		ID: id
		BEGAN: firstAttemptAt
		TRIES: attempts
		REASON: reason
		CHANGES: changes
		RETRYING: retrying`, show.Cells[T]{
		"reason":   func(t T) string { return sendErrorText(t.Error) },
		"changes":  func(t T) string { return strconv.Itoa(len(t.Message.Changes)) },
		"retrying": func(t T) string { return strconv.FormatBool(t.Retrying) },
	})
}

func sendErrorText(e client.WebhookError) string {
	if e.StatusCode == 0 {
		return e.Reason
	}
	return e.Reason + " " + strconv.Itoa(e.StatusCode)
}

// ofDelivery returns a command that changes failed deliveries.
func ofDelivery(p *session.Program, complete verbs.Completion, use, short, done, method string, more ...string) *cobra.Command {
	var w session.Writing
	cmd := &cobra.Command{Use: use + " NAME DELIVERY...", Short: short, ValidArgsFunction: complete, Args: func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return exit.Usagef("%s needs a webhook and the id of a delivery", cmd.CommandPath())
		}
		for _, id := range args[1:] {
			if _, err := ipam.ParseID(id); err != nil {
				return exit.Usagef("%q is not the id of a delivery; 'ipamctl webhook deliveries %s' lists them", id, args[0])
			}
		}
		return session.CheckName("webhook", args[0])
	}}
	verbs.AddDryRun(&w, cmd)
	cmd.RunE = p.VerbIn(func(ctx context.Context, s *session.Session, args []string) error {
		for _, id := range args[1:] {
			path := append(s.In("webhooks", args[0], "deliveries", id), more...)
			if _, err := s.Ask(ctx, session.Request{Method: method, Path: path, Query: w.Query()}); err != nil {
				return err
			}
			if err := verbs.Removed(p, "dead letter", id, done, "", w.DryRun); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}
