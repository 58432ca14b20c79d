package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/ipam"
)

// releaseStep is the number of claims in one request, so that the command can show progress.
const releaseStep = 250

// release is a command that releases many claims.
type release struct {
	*session.Session

	selected    client.ClaimSelection
	consumer    client.ConsumerSelection
	dryRun, yes bool
}

func releaseCommand(p *session.Program) *cobra.Command {
	var r release
	cmd := &cobra.Command{
		Use:   "release (NAME... | --owner OWNER | --selector LABELS | --pool POOL | --class CLASS | --consumer UID)",
		Short: "Release many claims: by name, by owner, by labels, of a pool, a class or a consumer",
		Long: `Shows what would be released, asks, and releases it, each claim as 'claim delete' does. Conditions add up. Nothing is released that
was not shown: what is made or changed meanwhile stays. An interrupted release goes on when it is run again. What cannot be
released is named, and the exit code is 4.

With --consumer it releases what this consumer uses and nobody else, and detaches it from that; the consumer lives on. 'consumer end' is
for one that is gone: it releases those claims that are not to be kept without a consumer.`,
		Example: `  ipamctl release --owner Cluster/web-eu --dry-run
  ipamctl release --selector env=test --yes
  ipamctl release --consumer vm-7c1f --yes
  ipamctl release node-1 node-2`,
		Args:              verbs.Names("claim", 0, 1000),
		ValidArgsFunction: claimKind(p).Complete(),
	}
	f := cmd.Flags()
	f.StringVar(&r.selected.Owner, "owner", "", "claims for this `OWNER` of yours, kind/name/uid")
	f.StringVarP(&r.selected.LabelSelector, "selector", "l", "", "claims with such `LABELS`: 'a=b,c!=d,e in (f,g),!h'")
	f.StringVar(&r.selected.Pool, "pool", "", "claims on this `POOL`, name or project/name")
	f.StringVar(&r.selected.ClassName, "class", "", "claims that this `CLASS` served")
	f.StringVar(&r.consumer.UID, "consumer", "", "claims that the consumer of this `UID` uses, and nobody else")
	f.StringVar(&r.consumer.Realm, "realm", "", "the `REALM` that knows the consumer (default: "+ipam.DefaultRealm+")")
	f.BoolVar(&r.dryRun, "dry-run", false, "show what would be released, and release nothing")
	f.BoolVarP(&r.yes, "yes", "y", false, "release without asking")
	verbs.CompleteFlag(cmd, "pool", verbs.CompletePools(p))
	verbs.CompleteFlag(cmd, "class", verbs.CompleteClasses(p))
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) (err error) {
		r.selected.Names = args
		for _, flag := range []string{"owner", "selector", "pool", "class", "consumer"} {
			if f.Changed(flag) && f.Lookup(flag).Value.String() == "" { // an unset variable in a script must not widen the release
				return exit.Usagef("--%s is empty: give it a value, or leave it out", flag)
			}
		}
		conditions := r.selected.Owner + r.selected.LabelSelector + r.selected.Pool + r.selected.ClassName + r.consumer.UID
		switch {
		case (len(args) > 0) == (conditions != ""):
			return exit.Usagef("release what? Give names of claims, or --owner, --selector, --pool, --class, --consumer")
		case r.consumer.UID != "":
			r.selected.Consumer = &r.consumer
		case r.consumer.Realm != "":
			return exit.Usagef("--realm is that of the consumer which --consumer names: give it too")
		}
		if r.Session, err = p.InProject(); err != nil {
			return err
		}
		return r.run(ctx)
	})
	return cmd
}

func (r release) run(ctx context.Context) error {
	shown, doc, err := r.ask(ctx, client.ClaimReleaseCreate{Select: r.selected}, true)
	switch {
	case err != nil:
		return err
	case r.dryRun:
		return r.show(shown, doc)
	case shown.Count == 0 && len(shown.Skipped) > 0:
		r.tellSkipped(shown)
		return exit.Verdict(exit.Conflict)
	case shown.Count == 0:
		r.Remark("no claim matches: nothing to release")
		return nil
	case shown.More:
		return exit.Usagef("more than %d claims match: narrow the selection", shown.Count)
	}
	if !r.yes {
		if err := r.confirm(ctx, shown); err != nil {
			return err
		}
	}
	return r.release(ctx, shown)
}

// ask sends one request.
func (r release) ask(ctx context.Context, body client.ClaimReleaseCreate, dryRun bool) (out client.ClaimRelease, doc json.RawMessage, err error) {
	text, err := show.Marshal(body)
	if err != nil {
		return out, nil, err
	}
	req := session.Request{Method: http.MethodPost, Path: r.In("claim-releases"), Body: text}
	if dryRun {
		req.Query = req.Query.With("dryRun", "true")
	}
	a, err := r.Ask(ctx, req)
	if err != nil {
		return out, nil, err
	}
	if err := json.Unmarshal(a.Body, &out); err != nil {
		return out, nil, fmt.Errorf("cannot read the server's answer: %w", err)
	}
	return out, a.Body, nil
}

// show prints the claims that would be released.
func (r release) show(shown client.ClaimRelease, doc json.RawMessage) error {
	docs := make([]json.RawMessage, 0, len(shown.Claims))
	for _, c := range shown.Claims {
		text, err := show.Marshal(c)
		if err != nil {
			return err
		}
		docs = append(docs, text)
	}
	if err := show.Show(r.Printer, claimView(), docs, doc, false); err != nil {
		return err
	}
	r.tellSkipped(shown)
	r.Remark("%s", r.countOf(shown)+" would be released")
	return nil
}

// tellSkipped prints the claims that stay, with the reasons.
func (r release) tellSkipped(of client.ClaimRelease) {
	for _, s := range of.Skipped {
		r.Note("claim %s stays (%s): %s", s.Name, s.Code, s.Detail)
	}
}

func (r release) countOf(shown client.ClaimRelease) string {
	switch {
	case shown.More:
		return fmt.Sprintf("more than %d claims", shown.Count)
	case shown.Count == 1:
		return "1 claim"
	default:
		return fmt.Sprintf("%d claims", shown.Count)
	}
}

// confirm asks the user for confirmation.
func (r release) confirm(ctx context.Context, shown client.ClaimRelease) error {
	if r.Secret != nil {
		names := make([]string, 0, len(shown.Claims))
		for _, c := range shown.Claims {
			names = append(names, c.Metadata.Name)
		}
		r.Note("%s: %s", r.countOf(shown), strings.Join(names, " "))
	}
	return r.Confirm(ctx, r.countOf(shown)+" would be released", "Release them?")
}

// release sends requests until all claims are released, and prints its progress.
func (r release) release(ctx context.Context, shown client.ClaimRelease) error {
	limit := releaseStep
	body := client.ClaimReleaseCreate{Select: r.selected, Token: shown.Token, Limit: &limit}
	released, skipped := 0, 0
	for {
		out, _, err := r.ask(ctx, body, false)
		if err != nil {
			if released > 0 {
				r.Note("%d of %d claims were released; run it again to go on", released, shown.Count)
			}
			return err
		}
		released, skipped = released+out.Released, skipped+len(out.Skipped)
		r.tellSkipped(out)
		body.Token, body.Cursor = "", out.NextCursor
		if out.NextCursor == "" {
			break
		}
		r.Remark("%d of %d claims released", released, shown.Count)
	}
	if err := r.Write(fmt.Appendf(nil, "%d of %d claims released\n", released, shown.Count)); err != nil {
		return err
	}
	if skipped > 0 {
		return exit.Verdict(exit.Conflict)
	}
	return nil
}
