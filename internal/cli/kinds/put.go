package kinds

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/plan"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// putVerb returns `put` for a kind that the API only creates: it creates the thing, or returns the existing thing with the given settings.
func putVerb[T any](k verbs.Kind[T], metadata func(T) client.Metadata, cmd *cobra.Command, c verbs.Creation) *cobra.Command {
	var w session.Writing
	cmd.Short = "Create a " + k.Kind + ", or get the existing " + k.Kind + " of this name"
	cmd.Long = "Creates the " + k.Kind + " as 'ipamctl " + k.Kind + " create' does, or returns the existing " + k.Kind + " if it has this name and the given settings; " +
		`other settings
may differ. A difference in a given setting is a conflict (exit code 4), and the error names it. Labels and annotations apply to a new
` + k.Kind + ` only: if an existing one has others, ipamctl prints a warning; 'ipamctl ` + k.Kind + ` set' changes them. Use this verb in scripts that run
repeatedly.`
	cmd.Args, cmd.ValidArgsFunction = verbs.Names(k.Kind, 1, 1), k.Complete()
	fields := verbs.AddFields(k.P, cmd, k.Fields, false)
	verbs.AddDryRun(&w, cmd)
	cmd.RunE = k.P.Verb(func(ctx context.Context, args []string) error {
		w.Again = true
		doc := map[string]any{"metadata": map[string]any{"name": args[0]}, "spec": map[string]any{}}
		if c.Check != nil {
			if err := c.Check(cmd); err != nil {
				return err
			}
		}
		if err := fields.Into(cmd, doc); err != nil {
			return err
		}
		s, err := k.Within()
		if err != nil {
			return err
		}
		var q session.Query
		if c.Query != nil {
			q = c.Query(cmd)
		}
		a, err := createOrRead(ctx, k, s, w, q, doc, args[0])
		if err != nil {
			return err
		}
		if a.Status == http.StatusOK {
			if err := existingMatches(s, k, metadata, doc, a); err != nil {
				return err
			}
		}
		return show.One(k.P.Printer, k.View, a.Body)
	})
	return cmd
}

// createOrRead reads a thing, or creates it if it does not exist. If another caller creates it at the same time, createOrRead reads it again.
func createOrRead[T any](
	ctx context.Context, k verbs.Kind[T], s *session.Session, w session.Writing, q session.Query, doc any, name string,
) (session.Answer, error) {
	is, err := k.Ask(ctx, s, name)
	if exit.CodeOf(err) != exit.NotFound {
		return is, err
	}
	made, refused := k.Create(ctx, s, w, q, doc)
	if exit.CodeOf(refused) != exit.Conflict {
		return made, refused
	}
	if is, err = k.Ask(ctx, s, name); err != nil {
		return session.Answer{}, refused
	}
	return is, nil
}

// existingMatches refuses an existing thing with other settings than the given ones. It warns about other labels and annotations.
func existingMatches[T any](s *session.Session, k verbs.Kind[T], metadata func(T) client.Metadata, doc map[string]any, a session.Answer) error {
	got, err := show.Decode[T]([]json.RawMessage{a.Body})
	if err != nil {
		return err
	}
	is := metadata(got[0])
	fixed, others, err := plan.Differences(k.Kind, s.Project, doc, a.Body)
	switch {
	case err != nil:
		return err
	case len(fixed) > 0:
		return exit.Endf(exit.Conflict, "%s %s exists with other settings: %s", k.Kind, is.Name, append(fixed, others...))
	case len(others) > 0:
		return exit.Endf(exit.Conflict, "%s %s exists with other settings: %s; 'ipamctl %s set %s' changes them", k.Kind, is.Name, others, k.Kind, is.Name)
	}
	s.Remark("%s %s exists already, with these settings", k.Kind, is.Name)
	warnOfOldPairs(s, k.Kind, is, doc)
	return nil
}

// warnOfOldPairs warns about labels and annotations of a put that the existing thing does not have. --quiet does not silence the warning, because
// scripts find things by labels.
func warnOfOldPairs(s *session.Session, kind string, is client.Metadata, given map[string]any) {
	pairs := func(name string) map[string]string {
		metadata, _ := given["metadata"].(map[string]any)
		out, _ := metadata[name].(map[string]string)
		return out
	}
	var d verbs.Differences
	d.Pairs("label", pairs("labels"), is.Labels)
	d.Pairs("annotation", pairs("annotations"), is.Annotations)
	if len(d) > 0 {
		s.Note("warning: %s %s is unchanged: %s; 'ipamctl %s set %s' changes it", kind, is.Name, d, kind, is.Name)
	}
}
