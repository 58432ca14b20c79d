package kinds

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/plan"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// putVerb returns `put` for a kind that the API only creates: it creates the thing, or returns the existing thing with the given settings. It has the
// same flags and checks as `create`. use is the usage after the name.
func putVerb(k verbs.Kind, use, example string) *cobra.Command {
	put := *k.Create
	put.Use, put.Example = "put NAME"+use, example
	put.Short = "Create a " + k.Kind + ", or get the existing " + k.Kind + " of this name"
	put.Long = strings.ReplaceAll(`Creates the KIND as 'ipamctl KIND create' does, or returns the existing KIND if it has this name and the given settings; other settings
may differ. A difference in a given setting is a conflict (exit code 4), and the error names it. Labels and annotations apply to a new
KIND only: if an existing one has others, ipamctl prints a warning; 'ipamctl KIND set' changes them. Use this verb in scripts that run
repeatedly.`, "KIND", k.Kind)
	w := session.Writing{Again: true}
	cmd := k.Writing(put, k.Fields, func(ctx context.Context, r verbs.Resource, doc map[string]any, q session.Query) error {
		a, err := createOrRead(ctx, k, r, w, q, verbs.Document(doc, "name", r.Name))
		if err == nil && a.Status == http.StatusOK {
			err = existingMatches(r, k.Kind, doc, a.Body)
		}
		return k.Shown(a, err)
	})
	verbs.AddDryRun(&w, cmd)
	return cmd
}

// createOrRead reads a thing, or creates it if it does not exist. If another caller creates it at the same time, createOrRead reads it again.
func createOrRead(
	ctx context.Context, k verbs.Kind, r verbs.Resource, w session.Writing, q session.Query, doc any,
) (session.Answer, error) {
	is, err := k.Ask(ctx, r.Session, r.Name)
	if exit.CodeOf(err) != exit.NotFound {
		return is, err
	}
	made, refused := k.Post(ctx, r.Session, w, q, doc)
	if exit.CodeOf(refused) != exit.Conflict {
		return made, refused
	}
	if is, err = k.Ask(ctx, r.Session, r.Name); err != nil {
		return session.Answer{}, refused
	}
	return is, nil
}

// existingMatches refuses an existing thing with other settings than the given ones. It warns about other labels and annotations.
func existingMatches(r verbs.Resource, kind string, doc map[string]any, is json.RawMessage) error {
	fixed, others, err := plan.Differences(kind, r.Project, doc, is)
	switch {
	case err != nil:
		return err
	case len(fixed) > 0:
		return exit.Endf(exit.Conflict, "%s %s exists with other settings: %s", kind, r.Name, append(fixed, others...))
	case len(others) > 0:
		return exit.Endf(exit.Conflict, "%s %s exists with other settings: %s; 'ipamctl %[1]s set %[2]s' changes them", kind, r.Name, others)
	}
	r.Remark("%s %s exists already, with these settings", kind, r.Name)
	return warnOfMissingPairs(r.Session, kind, is, doc)
}

// warnOfMissingPairs warns if a put sets labels or annotations that the existing object does not have. --quiet does not silence the warning, because
// scripts find things by labels.
func warnOfMissingPairs(s *session.Session, kind string, doc json.RawMessage, given map[string]any) error {
	is, err := show.Read[struct{ Metadata client.Metadata }](doc)
	if err != nil {
		return err
	}
	pairs := func(name string) map[string]string {
		metadata, _ := given["metadata"].(map[string]any)
		out, _ := metadata[name].(map[string]string)
		return out
	}
	var d verbs.Differences
	d.Pairs("label", pairs("labels"), is.Metadata.Labels)
	d.Pairs("annotation", pairs("annotations"), is.Metadata.Annotations)
	if len(d) > 0 {
		s.Note("warning: %s %s is unchanged: %s; 'ipamctl %[1]s set %[2]s' changes it", kind, is.Metadata.Name, d)
	}
	return nil
}
