package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func contextCommand(p *session.Program) *cobra.Command {
	return verbs.Group("context", "Servers, each with a project and a credential", []string{"contexts"},
		contextSet(p), contextUse(p), contextList(p), contextShow(p), contextDelete(p))
}

// contextDocument is a context for programs. It does not contain the credential's secret.
type contextDocument struct {
	Name       string `json:"name"`
	Current    bool   `json:"current"`
	Server     string `json:"server,omitempty"`
	Project    string `json:"project,omitempty"`
	CAFile     string `json:"caFile,omitempty"`
	Credential string `json:"credential"`      // "none", "key <id>", or a sentence about another token
	KeyID      string `json:"keyId,omitempty"` // as in the API key's status.keyId
}

func document(c session.Contexts, name string) contextDocument {
	s := c.Contexts[name]
	return contextDocument{
		Name: name, Current: name == c.Current, Server: session.Redacted(s.Server), Project: s.Project, CAFile: s.CAFile,
		Credential: s.APIKey.About(), KeyID: s.APIKey.KeyID(),
	}
}

func contextView() show.View {
	return show.ViewOf("context", `
		CURRENT: current
		NAME: name
		SERVER: server
		PROJECT: project
		CREDENTIAL: credential
		CA FILE: caFile, wide`, show.Cells[contextDocument]{"current": func(t contextDocument) string { return mark(t.Current) }})
}

func mark(yes bool) string {
	if yes {
		return "*"
	}
	return ""
}

func contextUse(p *session.Program) *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Make a context the current one",
		Args:              verbs.Names("context", 1, 1),
		ValidArgsFunction: completeContexts(p),
		RunE: p.Verb(func(_ context.Context, args []string) error {
			if err := changeExisting(p, args[0], func(c *session.Contexts) { c.Current = args[0] }); err != nil {
				return err
			}
			return showContext(p, args[0])
		}),
	}
}

// changeExisting changes the contexts. It returns an error if none has the name.
func changeExisting(p *session.Program, name string, change func(c *session.Contexts)) error {
	return p.ChangeContexts(func(c *session.Contexts) error {
		if _, found := c.Contexts[name]; !found {
			return session.NoContext(name)
		}
		change(c)
		return nil
	})
}

func contextList(p *session.Program) *cobra.Command {
	return verbs.Bare(&cobra.Command{
		Use:     "list",
		Short:   "List contexts",
		Aliases: []string{"ls"},
		RunE: p.Verb(func(context.Context, []string) error {
			c, err := p.ReadContexts()
			if err != nil {
				return err
			}
			page := show.Page{Items: []json.RawMessage{}}
			for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
				doc, err := show.Marshal(document(c, name))
				if err != nil {
					return err
				}
				page.Items = append(page.Items, doc)
			}
			return show.List(p.Printer, contextView(), page)
		}),
	})
}

func contextShow(p *session.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show a context, by default the current one",
		Long: `Shows the context, with the id of its API key. The id is public, and 'ipamctl key list -o wide' shows it too. No command
shows the secret.`,
		Args:              verbs.Names("context", 0, 1),
		ValidArgsFunction: completeContexts(p),
		RunE: p.Verb(func(_ context.Context, args []string) error {
			name := p.Flags.Context
			if len(args) == 1 {
				name = args[0]
			}
			return showContext(p, name)
		}),
	}
}

// showContext prints a context. If the name is empty, it prints the current context.
func showContext(p *session.Program, name string) error {
	c, err := p.ReadContexts()
	if err != nil {
		return err
	}
	if name == "" {
		name = c.Current
	}
	if name == "" {
		return exit.Usagef("there is no current context; 'ipamctl context use NAME' selects one, 'ipamctl context set NAME' creates one")
	}
	if _, found := c.Contexts[name]; !found {
		return session.NoContext(name)
	}
	doc, err := show.Marshal(document(c, name))
	if err != nil {
		return err
	}
	return show.One(p.Printer, contextView(), doc)
}

func contextDelete(p *session.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a context",
		Long: `Deletes the context and its credential from the file. The key stays valid on the server: if nothing uses it any more, revoke it
with 'ipamctl key revoke'.`,
		Aliases:           []string{"rm"},
		Args:              verbs.Names("context", 1, 1),
		ValidArgsFunction: completeContexts(p),
		RunE: p.Verb(func(_ context.Context, args []string) error {
			name := args[0]
			if err := changeExisting(p, name, func(c *session.Contexts) {
				delete(c.Contexts, name)
				if c.Current == name {
					c.Current = ""
					p.Remark("this was the current context; no context is current now")
				}
			}); err != nil {
				return err
			}
			return verbs.Removed(p, "context", name, "deleted", "", false)
		}),
	}
}

// completeContexts proposes context names.
func completeContexts(p *session.Program) verbs.Completion {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := p.ReadContexts()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.Sorted(maps.Keys(c.Contexts)), cobra.ShellCompDirectiveNoFileComp
	}
}
