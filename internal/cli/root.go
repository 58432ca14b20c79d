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

// Groups of verbs in the help.
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
		Short: "Carve's command line: ask for address space, look at it, give it back",
		Long: `ipamctl asks a Carve server for address space, shows what is held and what is free, and gives it back.

  ipamctl pool create corp --cidr 10.0.0.0/8
  ipamctl pool create prod --parent corp --prefix-length 12 --default-prefix-length 24
  ipamctl claim create web --pool prod -q          prints 10.0.0.0/24
  ipamctl pool tree

'ipamctl context set' keeps the server, the project and the credential. 'migrate', 'audit', 'retention', 'backup',
'restore' and 'bootstrap' work on the database itself.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Args:          verbs.NoVerb,
		// Set flags that were not given from the environment, before any verb reads them.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return p.FromEnvironment(cmd.Flags()) },
	}
	globalFlags(p, root)
	root.SetFlagErrorFunc(verbFirst)
	root.AddGroup(&cobra.Group{ID: groupVerb, Title: "As in kubectl:"}, &cobra.Group{ID: groupUser, Title: "Address space:"}, &cobra.Group{ID: groupAccess, Title: "Who may do what, and who did:"},
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
	f.StringVar(&p.Flags.Context, "context", "", "`NAME` of the context that says server, project and credential (default: the current one)")
	f.StringVar(&p.Flags.Server, "server", "", "base `URL` of the server (env CARVE_SERVER, default "+session.DefaultServer+")")
	f.StringVarP(&p.Flags.Project, "project", "p", "", "`PROJECT` that the verb is about (env CARVE_PROJECT)")
	f.StringVar(&p.Flags.CaFile, "ca-file", "", "trust servers with a certificate of the CAs in this PEM `FILE`, and no others")
	f.StringVar(&p.Flags.ClientCert, "client-cert", "", "show this certificate (PEM `FILE`, with its chain) to servers that want one (env CARVE_CLIENT_CERT)")
	f.StringVar(&p.Flags.ClientKey, "client-key", "", "its key (PEM `FILE`; env CARVE_CLIENT_KEY)")
	f.BoolVar(&p.Flags.InsecureHTTP, "insecure-http", false, "send the credential even over plain http to another machine, where others can read it")
	p.Output = show.FormatTable
	f.VarP(show.Format{P: p.Printer}, "output", "o", "how to print: "+show.Words(show.Formats)+" (env CARVE_OUTPUT)")
	f.BoolVarP(&p.Quiet, "quiet", "q", false, "print the CIDR alone (create, put, batch and get of pools and claims) or the names alone")
	f.BoolVar(&p.NoHeaders, "no-headers", false, "print tables without their headers")
	f.DurationVar(&p.Flags.Timeout, "timeout", 30*time.Second, "how long one request may take, its repeats included (env CARVE_TIMEOUT)")
	f.StringVar(&p.Flags.RequestID, "request-id", "", "`ID` to send as X-Request-Id, to find the requests in the server's log again")
	verbs.CompleteWords(root, "output", show.Formats)
	verbs.CompleteFlag(root, "context", completeContexts(p))
}

// verbFirst reports the error for a flag. If the argument in the place of a verb is unknown, it reports that first, because the flag may belong to the
// intended verb.
func verbFirst(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := verbs.NoVerb(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	return verbs.UnknownFlag(cmd, err)
}

// exitCodesTopic returns `ipamctl help exit-codes`: cobra treats a command without a function as a help topic.
func exitCodesTopic() *cobra.Command {
	var text strings.Builder
	text.WriteString("What the exit code of ipamctl says:\n")
	for _, c := range exit.Codes {
		fmt.Fprintf(&text, "\n  %d  %-12s %s", c.Code, c.Name, show.Wrapped(c.Meaning, 80, "\n"+strings.Repeat(" ", 18)))
	}
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: text.String()}
}
