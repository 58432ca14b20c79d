package cli

import (
	"context"
	"encoding/json"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// versions is what `ipamctl version` shows; the server's half as it came.
type versions struct {
	Client client.Version  `json:"client"`
	Server json.RawMessage `json:"server,omitempty"`
}

func (p *program) versionCommand() *cobra.Command {
	var clientOnly bool
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Show the versions of ipamctl and of the server",
		Args:              names("", 0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			v := versions{Client: client.Version{Version: p.Version, Commit: p.Commit, GoVersion: runtime.Version()}}
			if clientOnly {
				return p.showVersions(v)
			}
			s, err := p.session()
			if err != nil {
				return err
			}
			a, lost := s.ask(ctx, get("version"))
			v.Server = a.body
			if err := p.showVersions(v); err != nil {
				return err
			}
			return lost // its own version is shown even when the server does not answer
		}),
	}
	cmd.Flags().BoolVar(&clientOnly, "client", false, "ask no server")
	return cmd
}

func (p *program) showVersions(v versions) error {
	type row struct {
		what string
		client.Version
	}
	rows := []row{{"ipamctl", v.Client}}
	if v.Server != nil {
		server, err := decode[client.Version]([]json.RawMessage{v.Server})
		if err != nil {
			return err
		}
		rows = append(rows, row{"server", server[0]})
	}
	switch {
	case p.flags.output == formatJSON || p.flags.output == formatYAML:
		doc, err := marshal(v)
		if err != nil {
			return err
		}
		return p.document(doc)
	case p.flags.quiet || p.flags.output == formatName:
		return p.lines(wordsOf(rows, func(r row) string { return r.Version.Version }))
	}
	return p.write(tableOf(p, []column[row]{
		{title: "PROGRAM", cell: func(r row) string { return r.what }},
		{title: "VERSION", cell: func(r row) string { return r.Version.Version }},
		{title: "COMMIT", cell: func(r row) string { return r.Commit }},
		{title: "GO", cell: func(r row) string { return r.GoVersion }},
	}, rows))
}
