package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/export"
	"github.com/carve-ipam/carve/internal/cli/kinds"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/cli/plan"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/transfer"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// These are the command groups in the help.
const (
	groupVerb     = "verb"
	groupUser     = "user"
	groupAccess   = "access"
	groupOperator = "operator"
)

func root(p *session.Program, database operate.Database) *cobra.Command {
	o := &operate.Operator{Program: p, Database: database}
	root := &cobra.Command{
		Use:   "ipamctl",
		Short: "Carve's command line: claim address space, inspect it, release it",
		Long: `ipamctl claims address space from a Carve server, shows allocated and free space, and releases it.

  ipamctl pool create corp --cidr 10.0.0.0/8
  ipamctl pool create prod --parent corp --prefix-length 12 --default-prefix-length 24
  ipamctl claim create web --pool prod -q          prints 10.0.0.0/24
  ipamctl pool tree

'ipamctl context set' stores the server, the project and the credential. 'migrate', 'audit', 'retention', 'backup',
'restore' and 'bootstrap' work on the database itself.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args:          verbs.NoVerb,
		// This sets the flags that the user has not set from the environment. It runs before any command reads its flags.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return p.FromEnvironment(cmd.Flags()) },
	}
	globalFlags(p, root)
	root.SetFlagErrorFunc(verbFirst)
	root.AddGroup(&cobra.Group{ID: groupVerb, Title: "As in kubectl:"}, &cobra.Group{ID: groupUser, Title: "Address space:"}, &cobra.Group{ID: groupAccess, Title: "Access, quotas and the audit trail:"},
		&cobra.Group{ID: groupOperator, Title: "The database:"})
	for id, commands := range map[string][]*cobra.Command{
		groupVerb:     byVerb(p),
		groupUser:     append(append(kinds.OfAddressSpace(p, o.RegionReconcile()), plan.Commands(p)...), transfer.ImportCommand(p), export.Command(p), transfer.ShadowCommand(p)),
		groupAccess:   append(kinds.OfAccess(p), contextCommand(p), whoamiCommand(p)),
		groupOperator: o.Commands(),
	} {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(versionCommand(p), apiCommand(p), exitCodesTopic())
	alsoMeant(root)
	narrowHelp(root, p.Width)
	return root
}

func globalFlags(p *session.Program, root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&p.Flags.Context, "context", "", "`NAME` of the context with the server, project and credential (default: the current one)")
	f.StringVar(&p.Flags.Server, "server", "", "base `URL` of the server (env CARVE_SERVER, default "+session.DefaultServer+")")
	f.StringVarP(&p.Flags.Project, "project", "p", "", "`PROJECT` to work in (env CARVE_PROJECT)")
	f.StringVar(&p.Flags.CaFile, "ca-file", "", "PEM `FILE` of CA certificates: trust only servers with a certificate of these CAs")
	f.StringVar(&p.Flags.ClientCert, "client-cert", "", "PEM `FILE` with the client certificate and its chain, for servers that request one (env CARVE_CLIENT_CERT)")
	f.StringVar(&p.Flags.ClientKey, "client-key", "", "PEM `FILE` with the key of the client certificate (env CARVE_CLIENT_KEY)")
	f.BoolVar(&p.Flags.InsecureHTTP, "insecure-http", false, "send the credential over plain http to another machine, although others on the network can read it")
	p.Output = show.FormatTable
	f.VarP(show.Format{P: p.Printer}, "output", "o", "output format: "+show.JoinComma(show.Formats)+" (env CARVE_OUTPUT)")
	f.BoolVarP(&p.Quiet, "quiet", "q", false, "print only CIDRs (create, put, batch and get of pools and claims) or only names")
	f.BoolVar(&p.NoHeaders, "no-headers", false, "print tables without their headers")
	f.DurationVar(&p.Flags.Timeout, "timeout", 30*time.Second, "maximum time for a request including its retries (env CARVE_TIMEOUT)")
	f.StringVar(&p.Flags.RequestID, "request-id", "", "`ID` to send as X-Request-Id, to find the requests in the server's log")
	verbs.CompleteWords(root, "output", show.Formats)
	verbs.CompleteFlag(root, "context", completeContexts(p))
}

// verbFirst returns the error for a flag. If the argument in the verb's position is unknown, it returns the error for the verb. The flag may
// belong to the verb that the user meant.
func verbFirst(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := verbs.NoVerb(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	return verbs.UnknownFlag(cmd, err)
}

// exitCodesTopic returns `ipamctl help exit-codes`. cobra shows a command without a function as a help topic.
func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("Exit codes of ipamctl:\n")
	for _, c := range exit.Codes {
		fmt.Fprintf(&text, "\n  %d  %-12s %s", c.Code, c.Name, show.Wrapped(c.Meaning, 80, "\n"+strings.Repeat(" ", 18)))
	}
	return &cobra.Command{Use: "exit-codes", Short: "Meanings of the exit codes", Long: text.String()}
}
