package verbs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Names checks that arguments are names, at least and at most so many; -1 is any number.
func Names(kind string, least, most int) cobra.PositionalArgs {
	return Arguments("the name of a "+kind, least, most, func(a string) error { return session.CheckName(kind, a) })
}

// Bare is a command without arguments.
func Bare(cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = Names("", 0, 0), cobra.NoFileCompletions
	return cmd
}

// Required says of a flag that it has to be given.
func Required(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag is not there: a mistake in this package
	}
}

// Subjects checks that arguments are callers, as members are named.
func Subjects(most int) cobra.PositionalArgs { return Arguments("a subject", 1, most, checkSubject) }

// Consumers checks that arguments are projects to grant something to, or all of them.
func Consumers(cmd *cobra.Command, args []string) error {
	return Arguments("a consumer, the name of a project or '*'", 1, -1, checkConsumer)(cmd, args)
}

// Arguments checks each of at least and at most so many; -1 is any number.
func Arguments(what string, least, most int, check func(string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return exit.Usagef("%s needs %s", cmd.CommandPath(), what)
		case most >= 0 && len(args) > most:
			return exit.Usagef("%s takes %s, not %d", cmd.CommandPath(), atMost(most), len(args))
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

// subjectRE is what the contract calls a subject. The dots of a path are of its alphabet, and are refused apart.
var subjectRE = regexp.MustCompile(`^[A-Za-z0-9._:@|+=-]{1,255}$`)

func checkSubject(s string) error {
	switch {
	case strings.HasPrefix(s, "key:"):
		return exit.Usagef("%q is an API key, which has its role by itself: see 'ipamctl key'", s)
	case !subjectRE.MatchString(s) || strings.Trim(s, ".") == "":
		return exit.Usagef("%q is not a subject: they look like corp:alice@example.com, the issuer's name and the subject it knows", s)
	default:
		return nil
	}
}

func checkConsumer(s string) error {
	if s == "*" {
		return nil
	}
	if !session.NameRE.MatchString(s) {
		return exit.Usagef("%q is not a consumer: that is the name of a project, or '*' for every project (in quotes, for the shell)", s)
	}
	return nil
}

// Group is a command that only holds verbs. Without one, or with one that does not exist, it is a mistake: cobra would
// print the help and call it success.
func Group(use, short string, aliases []string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:     use,
		Short:   short,
		Aliases: aliases,
		Args:    NoVerb,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(cmd.ErrOrStderr())
			_ = cmd.Help()
			return exit.Usagef("%s needs a verb", cmd.CommandPath())
		},
	}
	c.AddCommand(verbs...)
	return c
}

// NoVerb refuses an argument where a verb was expected, naming near ones.
func NoVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	what := "verb"
	if cmd.HasParent() && slices.Contains([]string{"get", "describe", "create", "delete"}, cmd.Name()) {
		what = "kind"
	}
	return unknown(cmd, what, args[0])
}

// unknown refuses a word.
func unknown(cmd *cobra.Command, what, word string) error {
	if near := nearWords(cmd, word); len(near) > 0 {
		return exit.Usagef("%s has no %s %q; did you mean %s?", cmd.CommandPath(), what, word, show.Words(near))
	}
	return exit.Usagef("%s has no %s %q", cmd.CommandPath(), what, word)
}

// nearWords are the commands that were probably meant: by a slip of a finger, by their beginning, or by a word that other programs have for them.
func nearWords(cmd *cobra.Command, word string) (near []string) {
	slips := 1
	if len(word) > 4 {
		slips = 2
	}
	best := slips + 1
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		for _, name := range append([]string{c.Name()}, c.Aliases...) {
			d := slipsBetween(strings.ToLower(word), name)
			if slices.Contains(c.SuggestFor, strings.ToLower(word)) || len(word) > 1 && strings.HasPrefix(name, strings.ToLower(word)) {
				d = 0
			}
			switch {
			case d > slips || d > best:
			case d < best:
				near, best = []string{name}, d
			case !slices.Contains(near, name):
				near = append(near, name)
			}
		}
	}
	return near
}

// slipsBetween counts what was typed wrong; two letters in the other order are one slip.
func slipsBetween(a, b string) int {
	d := levenshtein.ComputeDistance(a, b)
	for i := 0; i+1 < len(a); i++ {
		swapped := a[:i] + a[i+1:i+2] + a[i:i+1] + a[i+2:]
		d = min(d, 1+levenshtein.ComputeDistance(swapped, b))
	}
	return d
}
