package verbs

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// Names checks the arguments, which name objects. Their number must be between minimum and maximum. A maximum of -1 allows any number.
func Names(kind string, minimum, maximum int) cobra.PositionalArgs {
	return Arguments("the name of a "+kind, minimum, maximum, func(a string) error { return session.CheckName(kind, a) })
}

// Bare makes a command without arguments.
func Bare(cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = Names("", 0, 0), cobra.NoFileCompletions
	return cmd
}

// Required makes a flag mandatory.
func Required(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag does not exist, which is a mistake in this program
	}
}

// Subject names members, by subject.
var Subject = Naming{"SUBJECT", "a subject", checkSubject}

// Consumer names grants, by the project that receives a grant, or '*' for all projects.
var Consumer = Naming{"CONSUMER", "a consumer, the name of a project or '*'", checkConsumer}

// Arguments counts the arguments, and then checks each argument. A maximum of -1 allows any number.
func Arguments(what string, minimum, maximum int, check func(string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minimum:
			return exit.Usagef("%s needs %s", cmd.CommandPath(), what)
		case maximum >= 0 && len(args) > maximum:
			return exit.Usagef("%s takes %s, not %d", cmd.CommandPath(), atMost(maximum), len(args))
		}
		for _, a := range args {
			if err := check(a); err != nil {
				return err
			}
		}
		return nil
	}
}

func atMost(n int) string {
	switch n {
	case 0:
		return "no arguments"
	case 1:
		return "one argument at most"
	default:
		return fmt.Sprintf("%d arguments at most", n)
	}
}

// subjectRE matches a subject as the contract defines it. It also matches "." and "..", which checkSubject refuses because they are path elements.
var subjectRE = regexp.MustCompile(`^[A-Za-z0-9._:@|+=-]{1,255}$`)

func checkSubject(s string) error {
	switch {
	case strings.HasPrefix(s, "key:"):
		return exit.Usagef("%q is an API key, and a key has its own role: see 'ipamctl key'", s)
	case !subjectRE.MatchString(s) || strings.Trim(s, ".") == "":
		return exit.Usagef("%q is not a subject: use the issuer's name and its name for the user, like corp:alice@example.com", s)
	default:
		return nil
	}
}

func checkConsumer(s string) error {
	if s == "*" {
		return nil
	}
	if !session.NameRE.MatchString(s) {
		return exit.Usagef("%q is not a consumer: use the name of a project, or '*' for every project (in quotes, for the shell)", s)
	}
	return nil
}

// Group returns a command that only contains verbs. If the verb is missing or unknown, the command fails. Without this code, cobra would print the
// help and report success.
func Group(use, short string, aliases []string, verbs ...*cobra.Command) *cobra.Command {
	return groupOf("a verb", use, short, aliases, verbs)
}

// GroupOfKinds returns a command that only contains kinds, such as `get`.
func GroupOfKinds(use, short string) *cobra.Command {
	words := strings.Fields(use)
	return groupOf("a kind, as in 'ipamctl "+words[0]+" pool'; the help above lists all kinds", words[0], short, words[1:], nil)
}

func groupOf(lacks, use, short string, aliases []string, verbs []*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:     use,
		Short:   short,
		Aliases: aliases,
		Args:    NoVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(cmd.ErrOrStderr())
			_ = cmd.Help()
			return exit.Usagef("%s needs %s", cmd.CommandPath(), lacks)
		},
	}
	c.AddCommand(verbs...)
	return c
}
