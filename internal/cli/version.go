package cli

import (
	"context"
	"encoding/json"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// versions is the output from `ipamctl version`. It contains the server's response as received.
type versions struct {
	Client client.Version  `json:"client"`
	Server json.RawMessage `json:"server,omitempty"`
}

func versionCommand(p *session.Program) *cobra.Command {
	var clientOnly bool
	cmd := verbs.Bare(&cobra.Command{
		Use:   "version",
		Short: "Show the versions of ipamctl and of the server",
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			v := versions{Client: client.Version{Version: p.Version, Commit: p.Commit, GoVersion: runtime.Version()}}
			if clientOnly {
				return showVersions(p, v)
			}
			s, err := p.Session()
			if err != nil {
				return err
			}
			a, lost := s.Ask(ctx, session.Get("version"))
			v.Server = a.Body
			if err := showVersions(p, v); err != nil {
				return err
			}
			return lost // the output has the client's version even if the server does not respond
		}),
	})
	cmd.Flags().BoolVar(&clientOnly, "client", false, "show only the version of ipamctl, without a request to the server")
	return cmd
}

func showVersions(p *session.Program, v versions) error {
	type row struct {
		Program string
		client.Version
	}
	rows := []row{{"ipamctl", v.Client}}
	if v.Server != nil {
		server, err := show.Read[client.Version](v.Server)
		if err != nil {
			return err
		}
		rows = append(rows, row{"server", server})
	}
	number := func(r row) string { return r.Version.Version }
	return p.Report(v, func() []string { return show.WordsOf(rows, number) }, func() error {
		return p.Write(show.Table(p.Printer, show.Columns(`
			PROGRAM: program
			VERSION: number
			COMMIT: commit
			GO: goVersion`, show.Cells[row]{"number": number}), rows))
	})
}
