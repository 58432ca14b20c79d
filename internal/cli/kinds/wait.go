package kinds

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// These are the minimum and the maximum pause between two checks. The pause grows with each check.
const (
	firstLook   = 250 * time.Millisecond
	longestLook = 5 * time.Second
)

func waitCommand(p *session.Program) *cobra.Command {
	return verbs.Group("wait", "Wait until a condition holds", nil,
		waitFor(p, "claim", "claims", string(client.IPClaimPhaseBound), claims(p).Complete()),
		waitFor(p, "pool", "pools", string(client.IPPoolPhaseReady), pools(p).Complete()))
}

// waitFor returns the command `wait` for one kind. phase is the phase that its objects reach at the end.
func waitFor(p *session.Program, kind, collection, phase string, complete verbs.Completion) *cobra.Command {
	var condition string
	var within time.Duration
	word := strings.ToLower(phase)
	cmd := &cobra.Command{
		Use:   kind + " NAME --for CONDITION",
		Short: fmt.Sprintf("Wait until a %s is %s, or deleted, or a field has a value", kind, word),
		Long: fmt.Sprintf(`Waits until the condition holds: '%s', 'deleted', or 'jsonpath={.path.to.field}=value' with names of fields only. It also waits
for an object that does not exist yet. When --within has passed, the exit code is 5.`, word),
		Example: fmt.Sprintf("  ipamctl wait %s web --for %s --within 2m\n  ipamctl wait %[1]s web --for jsonpath={.metadata.labels.ready}=yes", kind, word),
		Args:    verbs.Names(kind, 1, 1), ValidArgsFunction: complete,
	}
	cmd.Flags().StringVar(&condition, "for", "", "`CONDITION` to wait for: "+word+", deleted, jsonpath={.field}=value")
	cmd.Flags().DurationVar(&within, "within", time.Minute, "maximum time to wait")
	verbs.Required(cmd, "for")
	verbs.CompleteWords(cmd, "for", []string{word, "deleted"})
	cmd.RunE = p.Verb(func(ctx context.Context, args []string) error {
		holds, err := conditionOf(condition, phase)
		if err != nil {
			return err
		}
		s, err := p.InProject()
		if err != nil {
			return err
		}
		return waitUntil(ctx, s, session.Get(s.In(collection, args[0])...), holds, within, kind+" "+args[0]+" does not meet the condition yet: "+condition)
	})
	return cmd
}

// conditionOf parses a condition on a document. If the object does not exist, the document is nil.
func conditionOf(text, phase string) (func(doc map[string]any) bool, error) {
	path, want, isPath := strings.Cut(strings.TrimPrefix(text, "jsonpath="), "=")
	switch {
	case text == "deleted":
		return func(doc map[string]any) bool { return doc == nil }, nil
	case strings.EqualFold(text, phase):
		return func(doc map[string]any) bool { return fieldOf(doc, "status", "phase") == phase }, nil
	case isPath && strings.HasPrefix(text, "jsonpath={.") && strings.HasSuffix(path, "}"):
		names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "{."), "}"), ".")
		return func(doc map[string]any) bool { return doc != nil && fieldOf(doc, names...) == want }, nil
	default:
		return nil, exit.Usagef("--for must be %s, deleted, or jsonpath={.field}=value, not %q", strings.ToLower(phase), text)
	}
}

// fieldOf returns a document's field as text. If the field is missing, it returns "".
func fieldOf(doc map[string]any, names ...string) string {
	at := any(doc)
	for _, name := range names {
		object, is := at.(map[string]any)
		if !is || object[name] == nil {
			return ""
		}
		at = object[name]
	}
	return fmt.Sprint(at)
}

// waitUntil reads the object repeatedly until the condition is true. It prints nothing, because the exit code is the result.
func waitUntil(
	ctx context.Context, s *session.Session, look session.Request, holds func(doc map[string]any) bool, within time.Duration, why string,
) error {
	end := s.Clock().Add(within)
	missing := false
	for pause := firstLook; ; pause = min(2*pause, longestLook) {
		a, err := s.Ask(ctx, look)
		var doc map[string]any
		switch {
		case err == nil:
			if err := json.Unmarshal(a.Body, &doc); err != nil {
				return fmt.Errorf("cannot read the server's response: %w", err)
			}
		case exit.CodeOf(err) != exit.NotFound:
			return err
		}
		if holds(doc) {
			return nil
		}
		if doc == nil && !missing {
			missing = true
			s.Remark("%s does not exist yet: waiting for it", look.Path[len(look.Path)-1])
		}
		left := end.Sub(s.Clock())
		if left <= 0 {
			s.Note("error: %s", show.Clean(why))
			return exit.Verdict(exit.Unavailable)
		}
		if err := s.Pause(ctx, min(pause, left)); err != nil {
			return err
		}
	}
}
