package cli

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// names checks that arguments are names, at least and at most so many; -1 is any number.
func names(kind string, least, most int) cobra.PositionalArgs {
	return arguments("the name of a "+kind, least, most, func(a string) error { return checkName(kind, a) })
}

// bare is a command without arguments.
func bare(cmd *cobra.Command) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = names("", 0, 0), cobra.NoFileCompletions
	return cmd
}

// required says of a flag that it has to be given.
func required(cmd *cobra.Command, flag string) {
	if err := cmd.MarkFlagRequired(flag); err != nil {
		panic(err) // the flag is not there: a mistake in this package
	}
}

// subjects checks that arguments are callers, as members are named.
func subjects(most int) cobra.PositionalArgs { return arguments("a subject", 1, most, checkSubject) }

// consumers checks that arguments are projects to grant something to, or all of them.
func consumers(cmd *cobra.Command, args []string) error {
	return arguments("a consumer, the name of a project or '*'", 1, -1, checkConsumer)(cmd, args)
}

// arguments checks each of at least and at most so many; -1 is any number.
func arguments(what string, least, most int, check func(string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s", cmd.CommandPath(), what)
		case most >= 0 && len(args) > most:
			return usagef("%s takes %s, not %d", cmd.CommandPath(), atMost(most), len(args))
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
		return usagef("%q is an API key, which has its role by itself: see 'ipamctl key'", s)
	case !subjectRE.MatchString(s) || strings.Trim(s, ".") == "":
		return usagef("%q is not a subject: they look like corp:alice@example.com, the issuer's name and the subject it knows", s)
	default:
		return nil
	}
}

func checkConsumer(s string) error {
	if s == "*" {
		return nil
	}
	if !nameRE.MatchString(s) {
		return usagef("%q is not a consumer: that is the name of a project, or '*' for every project (in quotes, for the shell)", s)
	}
	return nil
}

// plural is the word for several of a kind.
func plural(kind string) string {
	if strings.HasSuffix(kind, "s") {
		return kind + "es"
	}
	return kind + "s"
}

// capital begins a sentence.
func capital(word string) string {
	for i, r := range word {
		return string(unicode.ToUpper(r)) + word[i+len(string(r)):]
	}
	return ""
}
