package cli

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

func (p *program) contextCommand() *cobra.Command {
	return group("context", "Servers, with the project and the credential to use there", []string{"contexts"},
		p.contextSet(), p.contextUse(), p.contextList(), p.contextShow(), p.contextDelete())
}

// contextDocument is a context for programs. Of the credential it has what is no secret.
type contextDocument struct {
	Name       string `json:"name"`
	Current    bool   `json:"current"`
	Server     string `json:"server,omitempty"`
	Project    string `json:"project,omitempty"`
	CAFile     string `json:"caFile,omitempty"`
	Credential string `json:"credential"`      // "none", "key <id>", or that it is another token
	KeyID      string `json:"keyId,omitempty"` // as in status.keyId of the API key
}

func (c contexts) document(name string) contextDocument {
	s := c.Contexts[name]
	return contextDocument{
		Name: name, Current: name == c.Current, Server: redacted(s.Server), Project: s.Project, CAFile: s.CAFile,
		Credential: s.APIKey.about(), KeyID: s.APIKey.keyID(),
	}
}

func contextView() view[contextDocument] {
	type T = contextDocument
	return view[T]{
		kind: "context",
		name: func(t T) string { return t.Name },
		columns: []column[T]{
			{title: "CURRENT", cell: func(t T) string { return mark(t.Current) }},
			{title: "NAME", cell: func(t T) string { return t.Name }},
			{title: "SERVER", cell: func(t T) string { return t.Server }},
			{title: "PROJECT", cell: func(t T) string { return t.Project }},
			{title: "CREDENTIAL", cell: func(t T) string { return t.Credential }},
			{title: "CA FILE", wide: true, cell: func(t T) string { return t.CAFile }},
		},
	}
}

func mark(yes bool) string {
	if yes {
		return "*"
	}
	return ""
}

func (p *program) contextUse() *cobra.Command {
	return &cobra.Command{
		Use:               "use NAME",
		Short:             "Make a context the current one",
		Args:              names("context", 1, 1),
		ValidArgsFunction: p.completeContexts,
		RunE: p.verb(func(_ context.Context, args []string) error {
			if err := p.changeContexts(func(c *contexts) error {
				if _, found := c.Contexts[args[0]]; !found {
					return noContext(args[0])
				}
				c.Current = args[0]
				return nil
			}); err != nil {
				return err
			}
			return p.showContext(args[0])
		}),
	}
}

func (p *program) contextList() *cobra.Command {
	return &cobra.Command{
		Use:               "list",
		Short:             "List contexts",
		Aliases:           []string{"ls"},
		Args:              names("", 0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(context.Context, []string) error {
			c, err := p.readContexts()
			if err != nil {
				return err
			}
			found := page{Items: []json.RawMessage{}}
			for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
				doc, err := marshal(c.document(name))
				if err != nil {
					return err
				}
				found.Items = append(found.Items, doc)
			}
			return list(p, contextView(), found)
		}),
	}
}

func (p *program) contextShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show a context, by default the current one",
		Long: `Shows the context, with the id of its API key: the part that is no secret, which 'ipamctl key list -o wide' has too. The
secret itself is never shown.`,
		Args:              names("context", 0, 1),
		ValidArgsFunction: p.completeContexts,
		RunE: p.verb(func(_ context.Context, args []string) error {
			name := p.flags.context
			if len(args) == 1 {
				name = args[0]
			}
			return p.showContext(name)
		}),
	}
}

// showContext prints a context; without a name the current one.
func (p *program) showContext(name string) error {
	c, err := p.readContexts()
	if err != nil {
		return err
	}
	if name == "" {
		name = c.Current
	}
	if name == "" {
		return usagef("there is no current context; 'ipamctl context use NAME' chooses one, 'ipamctl context set NAME' makes one")
	}
	if _, found := c.Contexts[name]; !found {
		return noContext(name)
	}
	doc, err := marshal(c.document(name))
	if err != nil {
		return err
	}
	return one(p, contextView(), doc)
}

func (p *program) contextDelete() *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME",
		Short: "Forget a context",
		Long: `Forgets the context and its credential. The server is not told: revoke a key that nobody is to use any more with
'ipamctl key revoke'.`,
		Aliases:           []string{"rm"},
		Args:              names("context", 1, 1),
		ValidArgsFunction: p.completeContexts,
		RunE: p.verb(func(_ context.Context, args []string) error {
			name := args[0]
			if err := p.changeContexts(func(c *contexts) error {
				if _, found := c.Contexts[name]; !found {
					return noContext(name)
				}
				delete(c.Contexts, name)
				if c.Current == name {
					c.Current = ""
					p.remark("it was the current context: there is none now")
				}
				return nil
			}); err != nil {
				return err
			}
			return p.removed("context", name, "deleted", "", false)
		}),
	}
}

// completeContexts proposes the names of contexts.
func (p *program) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := p.readContexts()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(c.Contexts)), cobra.ShellCompDirectiveNoFileComp
}
