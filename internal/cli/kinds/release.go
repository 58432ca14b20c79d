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

// releaseStep limits the claims that one request releases. It is small, so that the command can show its progress.
const releaseStep = 250

// release is the command that releases many claims.
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
		Long: `Shows the claims, asks for a confirmation, and releases them, each as 'claim delete' does. A claim must match all conditions. It
releases only claims that it has shown, and skips claims that were created or changed in the meantime. After an interruption, run it
again to continue. If the server refuses a claim, the command names it and exits with 4.

With --consumer it releases the claims that only this consumer uses, and detaches the consumer from them; the consumer stays. For a
consumer that no longer exists, use 'consumer end': it releases claims with whenUnused Delete.`,
		Example: `  ipamctl release --owner Cluster/web-eu --dry-run
  ipamctl release --selector env=test --yes
  ipamctl release --consumer vm-7c1f --yes
  ipamctl release node-1 node-2`,
		Args:              verbs.Names("claim", 0, 1000),
		ValidArgsFunction: claims(p).Complete(),
	}
	f := cmd.Flags()
	f.StringVar(&r.selected.Owner, "owner", "", "claims for this `OWNER` in your own system, kind/name/uid")
	f.StringVarP(&r.selected.LabelSelector, "selector", "l", "", "claims with these `LABELS`: 'a=b,c!=d,e in (f,g),!h'")
	f.StringVar(&r.selected.Pool, "pool", "", "claims from this `POOL`, name or project/name")
	f.StringVar(&r.selected.ClassName, "class", "", "claims of this `CLASS`")
	f.StringVar(&r.consumer.UID, "consumer", "", "claims that only the consumer with this `UID` uses")
	f.StringVar(&r.consumer.Realm, "realm", "", "the `REALM` of the consumer's UID (default: "+ipam.DefaultRealm+")")
	f.BoolVar(&r.dryRun, "dry-run", false, "show the claims, and release nothing")
	f.BoolVarP(&r.yes, "yes", "y", false, "release without a confirmation")
	verbs.CompleteFlag(cmd, "pool", verbs.CompletePools(p))
	verbs.CompleteFlag(cmd, "class", verbs.CompleteClasses(p))
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) (err error) {
		r.selected.Names = args
		for _, flag := range []string{"owner", "selector", "pool", "class", "consumer"} {
			if f.Changed(flag) && f.Lookup(flag).Value.String() == "" { // a variable in a script may be empty, and must not make the selection larger
				return exit.Usagef("--%s is empty: give it a value, or omit it", flag)
			}
		}
		conditions := r.selected.Owner + r.selected.LabelSelector + r.selected.Pool + r.selected.ClassName + r.consumer.UID
		switch {
		case (len(args) > 0) == (conditions != ""):
			return exit.Usagef("give names of claims, or at least one of --owner, --selector, --pool, --class and --consumer, but not both")
		case r.consumer.UID != "":
			r.selected.Consumer = &r.consumer
		case r.consumer.Realm != "":
			return exit.Usagef("--realm needs --consumer, which names the consumer")
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
		r.printSkipped(shown)
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

// ask sends one request to release claims.
func (r release) ask(ctx context.Context, body client.ClaimReleaseCreate, dryRun bool) (out client.ClaimRelease, doc json.RawMessage, err error) {
	w := session.Writing{DryRun: dryRun}
	a, err := r.Ask(ctx, session.Request{Method: http.MethodPost, Path: r.In("claim-releases"), Query: w.Query(), Body: body})
	out, err = session.Into[client.ClaimRelease](a, err)
	return out, a.Body, err
}

// show prints the claims that would be released.
func (r release) show(shown client.ClaimRelease, doc json.RawMessage) error {
	docs, err := show.Read[claimDocs](doc)
	if err != nil {
		return err
	}
	if err := show.Show(r.Printer, claimView(), docs.Claims, doc, false); err != nil {
		return err
	}
	r.printSkipped(shown)
	r.Remark("%s", r.countOf(shown)+" would be released")
	return nil
}

// printSkipped prints the claims that were not released, with the reasons.
func (r release) printSkipped(of client.ClaimRelease) {
	for _, s := range of.Skipped {
		r.Note("claim %s stays (%s): %s", s.Name, s.Code, s.Detail)
	}
}

func (r release) countOf(shown client.ClaimRelease) string {
	if shown.More {
		return fmt.Sprintf("more than %d claims", shown.Count)
	}
	return show.CountOf(shown.Count, "claim")
}

// confirm asks the user for confirmation.
func (r release) confirm(ctx context.Context, shown client.ClaimRelease) error {
	if r.Secret != nil {
		names := show.WordsOf(show.Rows(shown.Claims), claimView().Name)
		r.Note("%s: %s", r.countOf(shown), strings.Join(names, " "))
	}
	return r.Confirm(ctx, r.countOf(shown)+" would be released", "Release them?")
}

// release sends requests until all claims are released. It prints its progress.
func (r release) release(ctx context.Context, shown client.ClaimRelease) error {
	limit := releaseStep
	body := client.ClaimReleaseCreate{Select: r.selected, Token: shown.Token, Limit: &limit}
	released, skipped := 0, 0
	for {
		out, _, err := r.ask(ctx, body, false)
		if err != nil {
			if released > 0 {
				r.Note("%d of %d claims were released; run it again to continue", released, shown.Count)
			}
			return err
		}
		released, skipped = released+out.Released, skipped+len(out.Skipped)
		r.printSkipped(out)
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
