package cli

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// defaultServer is where a server listens that was told nothing else.
const defaultServer = "http://127.0.0.1:8080"

// globals are the flags of every verb.
type globals struct {
	context      string
	server       string
	project      string
	caFile       string
	clientCert   string
	clientKey    string
	insecureHTTP bool
	output       string
	quiet        bool
	noHeaders    bool
	timeout      time.Duration
	requestID    string
}

// Groups of verbs in the help.
const (
	groupUser     = "user"
	groupAccess   = "access"
	groupOperator = "operator"
)

func (p *program) root() *cobra.Command {
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
		Args:          noVerb,
		// Flags that were not given get their value from the environment, before any verb looks at them.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return p.fromEnvironment(cmd.Flags()) },
	}
	p.globalFlags(root)
	root.SetFlagErrorFunc(verbFirst)
	root.AddGroup(&cobra.Group{ID: groupUser, Title: "Address space:"}, &cobra.Group{ID: groupAccess, Title: "Who may do what, and who did:"},
		&cobra.Group{ID: groupOperator, Title: "The database:"})
	for id, commands := range map[string][]*cobra.Command{
		groupUser: {
			p.projectCommand(), p.spaceCommand(), p.poolCommand(), p.classCommand(), p.claimCommand(), p.allocationCommand(), p.applyCommand(),
			p.regionCommand(),
		},
		groupAccess: {
			p.contextCommand(), p.whoamiCommand(), p.memberCommand(), p.keyCommand(), p.grantCommand(), p.quotaCommand(),
			p.eventCommand(), p.historyCommand(),
		},
		groupOperator: {p.migrateCommand(), p.auditCommand(), p.retentionCommand(), p.backupCommand(), p.restoreCommand(), p.restoredCommand(), p.bootstrapCommand()},
	} {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(p.versionCommand(), exitCodesTopic())
	return root
}

func (p *program) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&p.flags.context, "context", "", "`NAME` of the context that says server, project and credential (default: the current one)")
	f.StringVar(&p.flags.server, "server", "", "base `URL` of the server (env CARVE_SERVER, default "+defaultServer+")")
	f.StringVarP(&p.flags.project, "project", "p", "", "`PROJECT` that the verb is about (env CARVE_PROJECT)")
	f.StringVar(&p.flags.caFile, "ca-file", "", "trust servers with a certificate of the CAs in this PEM `FILE`, and no others")
	f.StringVar(&p.flags.clientCert, "client-cert", "", "show this certificate (PEM `FILE`, with its chain) to servers that want one (env CARVE_CLIENT_CERT)")
	f.StringVar(&p.flags.clientKey, "client-key", "", "its key (PEM `FILE`; env CARVE_CLIENT_KEY)")
	f.BoolVar(&p.flags.insecureHTTP, "insecure-http", false, "send the credential even over plain http to another machine, where others can read it")
	f.VarP(newChoice(&p.flags.output, formatTable, formats...), "output", "o", "how to print: "+words(formats)+" (env CARVE_OUTPUT)")
	f.BoolVarP(&p.flags.quiet, "quiet", "q", false, "print the CIDR alone (create, put, batch and get of pools and claims) or the names alone")
	f.BoolVar(&p.flags.noHeaders, "no-headers", false, "print tables without their headers")
	f.DurationVar(&p.flags.timeout, "timeout", 30*time.Second, "how long one request may take, its repeats included (env CARVE_TIMEOUT)")
	f.StringVar(&p.flags.requestID, "request-id", "", "`ID` to send as X-Request-Id, to find the requests in the server's log again")
	completeWords(root, "output", formats)
	completeFlag(root, "context", p.completeContexts)
}

// fromEnvironment sets the global flags that have a variable and were not given. The variables of a server and a database
// are read where they are needed: a help text must not show them.
func (p *program) fromEnvironment(f *pflag.FlagSet) error {
	for flag, variable := range map[string]string{"output": "CARVE_OUTPUT", "timeout": "CARVE_TIMEOUT"} {
		value := p.env(variable)
		if value == "" || f.Changed(flag) {
			continue
		}
		if err := f.Set(flag, value); err != nil {
			return usagef("%s=%s: %v", variable, value, err)
		}
	}
	return nil
}

// group is a command that only holds verbs. Without one, or with one that does not exist, it is a mistake: cobra would
// print the help and call it success.
func group(use, short string, aliases []string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:     use,
		Short:   short,
		Aliases: aliases,
		Args:    noVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(cmd.ErrOrStderr())
			_ = cmd.Help()
			return usagef("%s needs a verb", cmd.CommandPath())
		},
	}
	c.AddCommand(verbs...)
	return c
}

// verbFirst judges a flag that cannot be read: where a verb was expected and what stands there is none, that is said, because the flag may
// well be one of the verb that was meant.
func verbFirst(cmd *cobra.Command, err error) error {
	if cmd.HasSubCommands() {
		if unknown := noVerb(cmd, cmd.Flags().Args()); unknown != nil {
			return unknown
		}
	}
	return err
}

// noVerb refuses an argument where a verb was expected, naming near ones.
func noVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("%s has no verb %q; did you mean %s?", cmd.CommandPath(), args[0], words(near))
	}
	return usagef("%s has no verb %q", cmd.CommandPath(), args[0])
}
