package kinds

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/ipam"
)

// realm is the namespace in which the UIDs of consumers are unique.
type realm struct{ name string }

func (r *realm) add(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVar(&r.name, "realm", ipam.DefaultRealm, "the `REALM` of the UIDs")
	return cmd
}

// kind returns the kind for the consumers in the realm of the flag --realm.
func (r *realm) kind(p *session.Program) verbs.Kind[client.IPConsumer] {
	return verbs.Kind[client.IPConsumer]{
		P: p, View: consumerView(), Args: consumerUIDs(1, -1), Nameless: true,
		Fed: &verbs.Fed[client.IPConsumer]{Kind: client.ChangeKindIPConsumer, Prefix: func() string { return r.name + "/" }},
		Home: verbs.Home{
			Within: func() (*session.Session, error) {
				s, err := p.InProject()
				if err != nil {
					return nil, err
				}
				return s, session.CheckName("realm", r.name)
			},
			Path: func(s *session.Session) []string { return s.In("realms", r.name, "consumers") },
		},
	}
}

func consumerUIDs(least, most int) cobra.PositionalArgs {
	return verbs.Arguments("the UID of a consumer", least, most, checkUID)
}

func checkUID(s string) error {
	if !ipam.ValidConsumerUID(s) {
		return exit.Usagef("%q is not the UID of a consumer: use letters, digits, -, ., _ and :", s)
	}
	return nil
}

func consumerCommand(p *session.Program) *cobra.Command {
	var listed, got, ended realm
	end := ended.kind(p).DeleteVerb(verbs.Removal{
		Use: "end UID...", Done: "ended",
		Long: "Ends consumers: the server detaches them from all their claims, in the background if there are many, and never accepts their\n" +
			"UIDs again. Unknown UIDs end as well.",
	})
	return verbs.Group("consumer", "Users of claims: attach, renew, detach and end them", []string{"consumers"},
		listed.add(listed.kind(p).ListVerb("Lists the consumers of a realm by UID, including ended ones.",
			verbs.By("phase", "phase", "only consumers in this phase", verbs.OneOf(client.IPConsumerPhaseLive, client.IPConsumerPhaseEnded)))),
		got.add(got.kind(p).GetVerb()),
		consumerAttach(p),
		consumerDetach(p),
		consumerRenew(p),
		ended.add(end),
	)
}

// claimAndUIDs checks the arguments of a command about a claim and its consumers.
func claimAndUIDs(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return exit.Usagef("%s needs a claim and the UID of a consumer", cmd.CommandPath())
	}
	if err := session.CheckName("claim", args[0]); err != nil {
		return err
	}
	return consumerUIDs(1, -1)(cmd, args[1:])
}

func consumerAttach(p *session.Program) *cobra.Command {
	var r realm
	var w session.Writing
	var kind, name string
	var ttl time.Duration
	cmd := r.add(&cobra.Command{
		Use:   "attach CLAIM UID... [--kind KIND] [--name NAME] [--ttl DURATION]",
		Short: "Attach consumers to a claim",
		Long: `Records that consumers use a claim, and renews them. It creates missing consumers with the values of the flags. A consumer with
--ttl counts as lost if it is not renewed within this time. The server does not release a claim that has consumers.`,
		Example: "  ipamctl consumer attach web-1 5f1c9a7e-3d53-4a59-9a53-0c4a7f0f2b11 --kind VM --ttl 2m",
		Args:    claimAndUIDs,
	})
	cmd.Flags().StringVar(&kind, "kind", "", "kind of the consumer, like VM")
	cmd.Flags().StringVar(&name, "name", "", "name of the consumer")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "lifetime without a renewal (default: no limit)")
	verbs.AddDryRun(&w, cmd)
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		s, err := r.kind(p).Within()
		if err != nil {
			return err
		}
		body := client.IPConsumerSpec{Kind: kind, Name: name}
		if ttl != 0 {
			body.TTLSeconds = new(int64(ttl / time.Second))
		}
		doc, err := json.Marshal(body)
		if err != nil {
			return err
		}
		var last json.RawMessage
		for _, uid := range args[1:] {
			a, err := s.Ask(ctx, session.Request{Method: http.MethodPut, Path: s.In("claims", args[0], "consumers", uid), Query: w.Query().With("realm", r.name), Body: doc})
			if err != nil {
				return err
			}
			last = a.Body
		}
		return show.One(p.Printer, claimView(), last)
	})
	return cmd
}

func consumerDetach(p *session.Program) *cobra.Command {
	var r realm
	var w session.Writing
	cmd := r.add(&cobra.Command{
		Use:   "detach CLAIM UID...",
		Short: "Detach consumers from a claim",
		Long: `Records that consumers no longer use a claim. If a claim has whenUnused Delete, the server releases it when its last consumer
is detached.`,
		Example: "  ipamctl consumer detach web-1 5f1c9a7e-3d53-4a59-9a53-0c4a7f0f2b11",
		Args:    claimAndUIDs,
	})
	verbs.AddDryRun(&w, cmd)
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		s, err := r.kind(p).Within()
		if err != nil {
			return err
		}
		for _, uid := range args[1:] {
			if _, err := s.Ask(ctx, session.Request{Method: http.MethodDelete, Path: s.In("claims", args[0], "consumers", uid), Query: w.Query().With("realm", r.name)}); err != nil {
				return err
			}
			if err := verbs.Removed(p, "consumer", uid, "detached", " from claim "+args[0], w.DryRun); err != nil {
				return err
			}
		}
		return nil
	})
	return cmd
}

func consumerRenew(p *session.Program) *cobra.Command {
	var r realm
	var w session.Writing
	cmd := r.add(&cobra.Command{
		Use:     "renew UID...",
		Short:   "Renew consumers",
		Long:    "Renews up to 1,000 consumers. It does not revive ended consumers and does not create unknown ones: for these the exit code is 3.",
		Example: "  ipamctl consumer renew vm-1 vm-2 --realm cluster-a",
		Args:    consumerUIDs(1, 1000),
	})
	verbs.AddDryRun(&w, cmd)
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		s, err := r.kind(p).Within()
		if err != nil {
			return err
		}
		doc, err := json.Marshal(client.ConsumerRenewal{Realm: r.name, Consumers: args})
		if err != nil {
			return err
		}
		a, err := s.Ask(ctx, session.Request{Method: http.MethodPost, Path: s.In("consumer-renewals"), Query: w.Query(), Body: doc})
		if err != nil {
			return err
		}
		if p.Structured() {
			return p.Document(a.Body)
		}
		var out client.ConsumerRenewed
		if err := json.Unmarshal(a.Body, &out); err != nil {
			return err
		}
		return renewed(p, out)
	})
	return cmd
}

// renewed prints the result for each consumer. If a consumer has ended or does not exist, it returns not_found.
func renewed(p *session.Program, out client.ConsumerRenewed) error {
	for _, uid := range out.Ended {
		p.Remark("consumer %s has ended, and cannot be renewed", uid)
	}
	if len(out.Unknown) > 0 {
		p.Remark("unknown: %s", strings.Join(out.Unknown, ", "))
	}
	if err := p.Lines(out.Renewed); err != nil {
		return err
	}
	if len(out.Ended)+len(out.Unknown) > 0 {
		return exit.Verdict(exit.NotFound)
	}
	return nil
}

func consumerView() show.View[client.IPConsumer] {
	type T = client.IPConsumer
	return show.View[T]{
		Kind: "consumer",
		Name: func(t T) string { return t.Metadata.Name },
		Columns: append([]show.Column[T]{
			{Title: "UID", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "KIND", Cell: func(t T) string { return t.Spec.Kind }},
			{Title: "NAME", Cell: func(t T) string { return t.Spec.Name }},
			{Title: "PHASE", Cell: func(t T) string { return show.FirstOf(string(t.Status.Reason), string(t.Status.Phase)) }},
			{Title: "RENEWED", Cell: func(t T) string { return show.TimeText(&t.Status.RenewedAt) }},
			{Title: "EXPIRES", Cell: func(t T) string { return show.TimeText(t.Status.ExpiresAt) }},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}

// consumerFields returns the fields for the consumers of a claim. The flags that apply to all consumers are read before --consumer.
func consumerFields() []verbs.Field {
	var all client.ClaimConsumer
	return []verbs.Field{
		{
			Flag: "realm", Path: "spec.consumers", Create: "the `REALM` of the consumers' UIDs (default: " + ipam.DefaultRealm + ")",
			Value: verbs.Strictly(verbs.ReadBy(func(name string) (any, error) {
				all.Realm = name
				return "", session.CheckName("realm", name)
			})),
		},
		{
			Flag: "consumer-ttl", Path: "spec.consumers", Create: "lifetime of the consumers without a renewal, a `DURATION` (default: no limit)",
			Value: verbs.Strictly(verbs.ReadBy(func(text string) (_ any, err error) {
				all.TTLSeconds, err = ttlOf(text)
				return "", err
			})),
		},
		{
			Flag: "consumer", Path: "spec.consumers", Create: "`UID` of a consumer that uses the claim from the start (repeatable)",
			Value: verbs.ListOf(false, nil, func(_ string, uids []string) (any, error) {
				list := make([]client.ClaimConsumer, len(uids))
				for i, uid := range uids {
					if err := checkUID(uid); err != nil {
						return nil, err
					}
					list[i] = all
					list[i].UID = uid
				}
				return list, nil
			}),
		},
		{
			Flag: "max-consumers", Path: "spec.maxConsumers", Create: "maximum number of consumers at the same time, `N` up to " + strconv.Itoa(ipam.MostConsumers) + " (default: 1)",
			Value: verbs.Strictly(verbs.ReadBy(func(text string) (any, error) {
				n, err := strconv.Atoi(text)
				if err != nil || n < 1 || n > ipam.MostConsumers {
					return nil, exit.Usagef("--max-consumers must be a number from 1 to %d, not %q", ipam.MostConsumers, text)
				}
				return n, nil
			})),
		},
		{
			Flag: "when-unused", Path: "spec.whenUnused", Value: verbs.OneOf(client.WhenUnusedKeep, client.WhenUnusedDelete),
			Create: "policy for the claim after its last consumer is detached",
		},
	}
}

// ttlOf parses a time to live. The server checks the minimum and the maximum.
func ttlOf(text string) (*int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 || d%time.Second != 0 {
		return nil, exit.Usagef("--consumer-ttl must be whole seconds, like 120s or 5m, not %q", text)
	}
	return new(int64(d / time.Second)), nil
}

// checkConsumers checks combinations of the flags about consumers.
func checkConsumers(cmd *cobra.Command) error {
	if howMany(cmd, "consumer") == 0 && howMany(cmd, "realm", "consumer-ttl") > 0 {
		return exit.Usagef("--realm and --consumer-ttl need --consumer, which names the consumers")
	}
	return nil
}
