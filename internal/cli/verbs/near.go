package verbs

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// NoVerb refuses an argument that is not a known verb, and suggests similar verbs.
func NoVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	what := "verb"
	if cmd.HasParent() && slices.Contains([]string{"get", "describe", "create", "set", "delete"}, cmd.Name()) {
		what = "kind"
		if words := strings.FieldsFunc(args[0], func(r rune) bool { return r == ',' || r == '/' }); len(words) > 1 && Child(cmd, words[0]) != nil {
			return exit.Usagef("%s takes one kind at a time, not %q", cmd.CommandPath(), strings.Join(args, " "))
		}
	}
	if near := nearWords(cmd, args[0]); len(near) > 0 {
		return exit.Usagef("%s has no %s %q; did you mean %s?", cmd.CommandPath(), what, args[0], show.JoinComma(near))
	}
	return exit.Usagef("%s has no %s %q", cmd.CommandPath(), what, args[0])
}

// Child returns the subcommand that has the name or the alias.
func Child(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

// nearWords returns the commands that the user probably meant. The word may be a synonym from another program, a typing mistake, or a prefix.
func nearWords(cmd *cobra.Command, word string) (near []string) {
	word = strings.ToLower(word)
	best := editDistance(word) + 1
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		name, d := nearest(word, append([]string{c.Name()}, c.Aliases...))
		if slices.Contains(c.SuggestFor, word) {
			name, d = c.Name(), -1
		}
		switch {
		case d > editDistance(word) || d > best:
		case d < best:
			near, best = []string{name}, d
		default:
			near = append(near, name)
		}
	}
	return near
}

// editDistance returns the maximum for typing mistakes in a word. A word with more mistakes counts as another word.
func editDistance(word string) int {
	if len(word) > 4 {
		return 2
	}
	return 1
}

// nearest returns the name that is most similar to a word, and the distance between them. If the name starts with the word, the distance is 0.
func nearest(word string, names []string) (name string, distance int) {
	distance = len(word) + 1
	for _, n := range names {
		d := editDistanceWithin(word, n)
		if len(word) > 1 && strings.HasPrefix(n, word) {
			d = 0
		}
		if d < distance {
			name, distance = n, d
		}
	}
	return name, distance
}

// otherFlags maps flags in kubectl, gh and aws to ipamctl's flags.
var otherFlags = map[string]string{
	"all-namespaces": "--all-projects (-A)", "namespace": "--project (-p)", "n": "--project (-p)", "kube-context": "--context", "profile": "--context",
	"endpoint-url": "--server", "show-labels": "--output wide", "filter": "--selector (-l)", "filters": "--selector (-l)", "labels": "--label",
	"field-selector": "--output jsonpath=…", "query": "--output jsonpath=…", "jq": "--output jsonpath=…", "json": "--output json",
	"template": "--output go-template=…", "max-items": "--limit", "chunk-size": "--limit", "confirm": "--yes",
}

// UnknownFlag adds the flag that the user probably meant to the error about an unknown flag.
func UnknownFlag(cmd *cobra.Command, err error) error {
	e, is := errors.AsType[*pflag.NotExistError](err)
	if !is {
		return err
	}
	word := strings.ToLower(e.GetSpecifiedName())
	if e.GetSpecifiedShortnames() != "" {
		word = word[:1]
	}
	if word == "force" {
		return exit.Usagef("%v; Carve never deletes or overwrites an object in use. First release or delete its users: 'ipamctl release --pool POOL' releases the claims of a pool", err)
	}
	flags := map[string]bool{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = !f.Hidden })
	other := otherFlags[word]
	if name, _, _ := strings.Cut(strings.TrimPrefix(other, "--"), " "); flags[name] {
		return exit.Usagef("%v; did you mean %s?", err, other)
	}
	if len(word) > 1 {
		if name, d := nearest(word, slices.Sorted(maps.Keys(flags))); d <= editDistance(word) && flags[name] {
			return exit.Usagef("%v; did you mean --%s?", err, name)
		}
	}
	return err
}

// editDistanceWithin counts the typing mistakes between two words. Two swapped letters count as one mistake.
func editDistanceWithin(a, b string) int {
	d := levenshtein.ComputeDistance(a, b)
	for i := 0; i+1 < len(a); i++ {
		swapped := a[:i] + a[i+1:i+2] + a[i:i+1] + a[i+2:]
		d = min(d, 1+levenshtein.ComputeDistance(swapped, b))
	}
	return d
}
