package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/ipam"
)

func webhooks(p *session.Program) verbs.Kind[client.Webhook] {
	return verbs.Kind[client.Webhook]{P: p, View: webhookView(), Home: verbs.HomeOf(p, "webhooks"), Fields: append(verbs.LabelFields(),
		verbs.Field{Flag: "url", Path: "spec.url", Value: verbs.Text, Usage: "target URL: https, or http to networks that the operator allows"},
		verbs.Field{
			Flag: "kind", Path: "spec.resourceKinds", Value: verbs.ListOf(true, nil, func(_ string, kinds []string) (any, error) { return kinds, nil }),
			Create: "only changes of this `KIND`, like IPClaim (repeatable)", Set: "only changes of this `KIND` (repeatable), or none for all kinds",
		},
		verbs.Field{Flag: "object", Path: "spec.resourceName", Value: verbs.Text, Usage: "only changes of objects with this `NAME`"},
		verbs.Field{Flag: "selector", Path: "spec.labelSelector", Value: verbs.Text, Usage: "only changes of objects with these labels, like env=prod"},
		verbs.Field{Flag: "paused", Path: "spec.paused", Value: verbs.YesOrNo, Usage: "send nothing for now; --paused=false resumes"},
	)}
}

func webhookCommand(p *session.Program) *cobra.Command {
	k := webhooks(p)
	return verbs.Group("webhook", "Webhooks for changes, and their failed deliveries", []string{"webhooks"},
		webhookCreate(p, k),
		k.ListVerb("Lists the webhooks of the project, with the state of their deliveries. The server does not store secrets and cannot show them."),
		k.GetVerb(),
		k.SetVerb(&cobra.Command{
			Use:   "set NAME [--url URL] [--paused] ...",
			Short: "Change the given fields of a webhook",
			Long:  `Changes the given fields only. Every change except of labels restarts a stopped webhook, and retries waiting deliveries at once.`,
			Example: `  ipamctl webhook set inventory --paused
  ipamctl webhook set inventory --url https://inventory.example.com/v2/carve --paused=false`,
		}, verbs.Creation{}),
		webhookDeliveries(p, k),
		ofDelivery(p, k, "retry", "Retry failed deliveries", "retrying", http.MethodPost, "retries"),
		ofDelivery(p, k, "drop", "Drop failed deliveries", "dropped", http.MethodDelete),
		k.DeleteVerb(verbs.Removal{Many: verbs.ByAll, Long: "Deletes webhooks, with their failed deliveries."}),
	)
}

func webhookCreate(p *session.Program, k verbs.Kind[client.Webhook]) *cobra.Command {
	cmd := k.CreateVerb(&cobra.Command{
		Use:   "create NAME --url URL",
		Short: "Create a webhook for changes, and print its secret once",
		Long: `Creates a webhook that sends all later changes to a URL. Only this command shows the secret that signs the requests.
--quiet prints only the secret; -o json and yaml have it in the document.`,
		Example: `  ipamctl webhook create inventory --url https://inventory.example.com/carve --kind IPClaim`,
	}, verbs.Creation{Shown: showNewWebhook, Check: func(*cobra.Command) error {
		if p.Output == show.FormatName && !p.Quiet {
			return exit.Usagef("-o name does not show the secret, and no later command can: use --quiet for the secret alone, or another format")
		}
		return nil
	}})
	verbs.Required(cmd, "url")
	return cmd
}

// showNewWebhook prints a new webhook with its secret. The server returns the secret only once.
func showNewWebhook(s *session.Session, doc json.RawMessage, w session.Writing) error {
	var made client.Webhook
	if err := json.Unmarshal(doc, &made); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	return showOnce(s, webhookView(), doc, w, "secret", made.Secret, fmt.Sprintf("an earlier request created webhook %s, and only its response contained the secret. "+
		"Delete the webhook and create another one: ipamctl webhook delete %s -p %s", made.Metadata.Name, made.Metadata.Name, s.Project))
}

func webhookView() show.View[client.Webhook] {
	type T = client.Webhook
	return show.View[T]{
		Kind: "webhook",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "URL", Cell: func(t T) string { return t.Spec.URL }},
			{Title: "STATE", Cell: func(t T) string { return string(t.Status.State) }},
			{Title: "REASON", Cell: webhookReason},
			{Title: "DELIVERED", Cell: func(t T) string { return orNever(t.Status.LastDeliveredAt) }},
			{Title: "DEAD LETTERS", Cell: func(t T) string { return strconv.Itoa(t.Status.DeadLetters) }},
			{Title: "ABOUT", Wide: true, Cell: webhookFilter},
			{Title: "NEXT TRY", Wide: true, Cell: func(t T) string { return show.TimeText(t.Status.NextAttemptAt) }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// webhookReason returns the reason why a webhook is stopped. If there is no such reason, it returns the webhook's last error.
func webhookReason(w client.Webhook) string {
	if e := w.Status.LastError; e != nil && w.Status.Reason == "" {
		return sendErrorText(*e)
	}
	return w.Status.Reason
}

func sendErrorText(e client.WebhookError) string {
	if e.StatusCode == 0 {
		return e.Reason
	}
	return e.Reason + " " + strconv.Itoa(e.StatusCode)
}

func webhookFilter(w client.Webhook) string {
	var kinds []string
	for _, kind := range w.Spec.ResourceKinds {
		kinds = append(kinds, string(kind))
	}
	return show.FirstOf(strings.Join(strings.Fields(strings.Join(kinds, ",")+" "+w.Spec.ResourceName+" "+w.Spec.LabelSelector), " "), "everything")
}

func deliveryView() show.View[client.WebhookDelivery] {
	type T = client.WebhookDelivery
	return show.View[T]{
		Kind: "dead letter",
		Name: func(t T) string { return t.ID },
		Columns: []show.Column[T]{
			{Title: "ID", Cell: func(t T) string { return t.ID }},
			{Title: "BEGAN", Cell: func(t T) string { return show.TimeText(&t.FirstAttemptAt) }},
			{Title: "TRIES", Cell: func(t T) string { return strconv.Itoa(t.Attempts) }},
			{Title: "REASON", Cell: func(t T) string { return sendErrorText(t.Error) }},
			{Title: "CHANGES", Cell: func(t T) string { return strconv.Itoa(len(t.Message.Changes)) }},
			{Title: "RETRYING", Cell: func(t T) string { return strconv.FormatBool(t.Retrying) }},
		},
	}
}

func webhookDeliveries(p *session.Program, k verbs.Kind[client.Webhook]) *cobra.Command {
	of := ""
	list := verbs.Kind[client.WebhookDelivery]{P: p, View: deliveryView(), Home: verbs.Home{
		Within: p.InProject, Path: func(s *session.Session) []string { return s.In("webhooks", of, "deliveries") },
	}}.ListVerb("Lists deliveries that failed for 24 hours, the oldest first. The server keeps them for 30 days.")
	list.Use, list.Aliases, list.Short = "deliveries NAME", nil, "List failed deliveries"
	list.Args, list.ValidArgsFunction = verbs.Names("webhook", 1, 1), k.Complete()
	run := list.RunE
	list.RunE = func(cmd *cobra.Command, args []string) error {
		of = args[0]
		return run(cmd, args)
	}
	return list
}

// ofDelivery returns a command about failed deliveries to a webhook.
func ofDelivery(p *session.Program, k verbs.Kind[client.Webhook], use, short, done, method string, more ...string) *cobra.Command {
	var w session.Writing
	cmd := &cobra.Command{Use: use + " NAME DELIVERY...", Short: short, ValidArgsFunction: k.Complete(), Args: func(cmd *cobra.Command, args []string) error {
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
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		s, err := p.InProject()
		if err != nil {
			return err
		}
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
