package kinds

import (
	"context"
	"net/http"
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

// consumers has the commands about consumers. realm is the namespace in which consumers' UIDs are unique.
type consumers struct {
	verbs.Kind
	realm string
}

func consumerCommand(p *session.Program) *cobra.Command {
	c := &consumers{}
	c.Kind = verbs.Kind{
		P: p, Short: "Users of claims: attach, renew, detach and end them", Nameless: true,
		Arg: verbs.Naming{Word: "UID", What: "the UID of a consumer", Check: checkUID},
		View: show.ViewOf("consumer", `
			UID: metadata.name
			KIND: spec.kind
			NAME: spec.name
			PHASE: phase
			RENEWED: status.renewedAt
			EXPIRES: status.expiresAt`+labelled, show.Cells[client.IPConsumer]{
			"phase": func(t client.IPConsumer) string { return show.FirstOf(string(t.Status.Reason), string(t.Status.Phase)) },
		}),
		Feed: client.ChangeKindIPConsumer, Fed: verbs.Fed{Prefix: func() string { return c.realm + "/" }},
		Within: func() (*session.Session, error) {
			s, err := p.InProject()
			if err != nil {
				return nil, err
			}
			return s, session.CheckName("realm", c.realm)
		},
		Path: func(s *session.Session) []string { return s.In("realms", c.realm, "consumers") },
		Flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&c.realm, "realm", ipam.DefaultRealm, "the `REALM` of the UIDs")
		},
		ListHelp: "Lists the consumers of a realm by UID, including ended ones.",
		Filters:  []verbs.Field{{Flag: "phase", Words: "Live Ended", Usage: "only consumers in this phase"}},
		Get:      true,
		Delete: &verbs.Removal{
			Verb: "end", Done: "ended",
			Long: "Ends consumers: the server detaches them from all their claims, in the background if there are many, and never accepts their\n" +
				"UIDs again. Unknown UIDs end as well.",
		},
	}
	return c.Group(c.attach(), c.detach(), c.renew())
}

func checkUID(s string) error {
	if !ipam.ValidConsumerUID(s) {
		return exit.Usagef("%q is not the UID of a consumer: use letters, digits, -, ., _ and :", s)
	}
	return nil
}

// claimAndUIDs checks the arguments for a command about a claim and its consumers.
func (c *consumers) claimAndUIDs(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return exit.Usagef("%s needs a claim and the UID of a consumer", cmd.CommandPath())
	}
	if err := session.CheckName("claim", args[0]); err != nil {
		return err
	}
	return c.Named(-1)(cmd, args[1:])
}

// verb completes a command that writes. It calls run with a session in the project.
func (c *consumers) verb(cmd *cobra.Command, run func(ctx context.Context, s *session.Session, args []string, w session.Writing) error) *cobra.Command {
	var w session.Writing
	verbs.AddDryRun(&w, cmd)
	cmd.RunE = c.P.Verb(func(ctx context.Context, args []string) error {
		s, err := c.Open()
		if err != nil {
			return err
		}
		return run(ctx, s, args, w)
	})
	return c.Command(cmd)
}

// ofClaim returns a request about a claim's consumer.
func (c *consumers) ofClaim(s *session.Session, method, claim, uid string, w session.Writing, body any) session.Request {
	return session.Request{Method: method, Path: s.In("claims", claim, "consumers", uid), Query: w.Query().With("realm", c.realm), Body: body}
}

func (c *consumers) attach() *cobra.Command {
	var spec client.IPConsumerSpec
	var ttl time.Duration
	cmd := c.verb(&cobra.Command{
		Use:   "attach CLAIM UID... [--kind KIND] [--name NAME] [--ttl DURATION]",
		Short: "Attach consumers to a claim",
		Long: `Records that consumers use a claim, and renews them. It creates missing consumers with the values of the flags. A consumer with
--ttl counts as lost if it is not renewed within this time. The server does not release a claim that has consumers.`,
		Example: "  ipamctl consumer attach web-1 5f1c9a7e-3d53-4a59-9a53-0c4a7f0f2b11 --kind VM --ttl 2m",
		Args:    c.claimAndUIDs,
	}, func(ctx context.Context, s *session.Session, args []string, w session.Writing) error {
		if ttl != 0 {
			spec.TTLSeconds = new(int64(ttl / time.Second))
		}
		var last session.Answer
		for _, uid := range args[1:] {
			var err error
			if last, err = s.Ask(ctx, c.ofClaim(s, http.MethodPut, args[0], uid, w, spec)); err != nil {
				return err
			}
		}
		return show.One(c.P.Printer, claimView(), last.Body)
	})
	cmd.Flags().StringVar(&spec.Kind, "kind", "", "kind of the consumer, like VM")
	cmd.Flags().StringVar(&spec.Name, "name", "", "name of the consumer")
	cmd.Flags().DurationVar(&ttl, "ttl", 0, "lifetime without a renewal (default: no limit)")
	return cmd
}

func (c *consumers) detach() *cobra.Command {
	return c.verb(&cobra.Command{
		Use:   "detach CLAIM UID...",
		Short: "Detach consumers from a claim",
		Long: `Records that consumers no longer use a claim. If a claim has whenUnused Delete, the server releases it when its last consumer
is detached.`,
		Example: "  ipamctl consumer detach web-1 5f1c9a7e-3d53-4a59-9a53-0c4a7f0f2b11",
		Args:    c.claimAndUIDs,
	}, func(ctx context.Context, s *session.Session, args []string, w session.Writing) error {
		for _, uid := range args[1:] {
			if _, err := s.Ask(ctx, c.ofClaim(s, http.MethodDelete, args[0], uid, w, nil)); err != nil {
				return err
			}
			if err := verbs.Removed(c.P, "consumer", uid, "detached", " from claim "+args[0], w.DryRun); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *consumers) renew() *cobra.Command {
	return c.verb(&cobra.Command{
		Use:     "renew UID...",
		Short:   "Renew consumers",
		Long:    "Renews up to 1,000 consumers. It does not revive ended consumers and does not create unknown ones: for these the exit code is 3.",
		Example: "  ipamctl consumer renew vm-1 vm-2 --realm cluster-a",
		Args:    c.Named(1000),
	}, func(ctx context.Context, s *session.Session, args []string, w session.Writing) error {
		a, err := s.Ask(ctx, session.Request{
			Method: http.MethodPost, Path: s.In("consumer-renewals"), Query: w.Query(), Body: client.ConsumerRenewal{Realm: c.realm, Consumers: args},
		})
		if err != nil {
			return err
		}
		if c.P.Structured() {
			return c.P.Document(a.Body)
		}
		out, err := show.Read[client.ConsumerRenewed](a.Body)
		if err != nil {
			return err
		}
		return renewed(c.P, out)
	})
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
