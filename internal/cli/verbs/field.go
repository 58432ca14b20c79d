package verbs

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Value is the value of a flag that can be converted for a document.
type Value interface {
	pflag.Value
	// document returns the value for a document. In a merge patch, nil becomes null. In a new document, nil means that the field is absent.
	document() (any, error)
}

// Maker makes the value of a flag. If it is clearable, it accepts `none`, which resets the field to its default.
type Maker func(flag string, clearable bool) Value

// Field is a field of a document with its flag.
type Field struct {
	Flag, Short string
	Path        string // such as spec.allocation.strategy
	Value       Maker
	// Usage is the help text in `create` and `set`. Create and Set override it for their command. If a command has no text, it does not have the
	// flag.
	Usage, Create, Set string
	Complete           func(p *session.Program) Completion
}

// Given has the fields of a command with the values of their flags.
type Given []struct {
	Field
	value     Value
	clearable bool
}

// AddFields adds the flags of the fields to `set`, or to a command that creates an object.
func AddFields(p *session.Program, cmd *cobra.Command, fields []Field, set bool) Given {
	var out Given
	for _, f := range fields {
		usage := show.FirstOf(f.Create, f.Usage)
		if set {
			usage = show.FirstOf(f.Set, f.Usage)
		}
		if usage == "" {
			continue
		}
		v := f.Value(f.Flag, set)
		addFlag(p, cmd, f.Flag, f.Short, usage, v, f.Complete)
		out = append(out, struct {
			Field
			value     Value
			clearable bool
		}{f, v, set})
	}
	return out
}

// addFlag adds one flag with its completion.
func addFlag(p *session.Program, cmd *cobra.Command, name, short, usage string, v pflag.Value, complete func(p *session.Program) Completion) {
	c, _ := v.(*Plain)
	isChoice := c != nil && c.words != nil
	if isChoice {
		usage += ": " + show.JoinComma(c.words)
	}
	flag := cmd.Flags().VarPF(v, name, short, usage)
	if flag.DefValue == "[]" {
		flag.DefValue = "" // the help omits an empty list as a default
	}
	switch {
	case v.Type() == "bool":
		flag.NoOptDefVal = "true"
	case isChoice:
		CompleteWords(cmd, name, c.words)
	case complete != nil:
		CompleteFlag(cmd, name, complete(p))
	}
}

// Said returns a flag's value as text.
func Said(cmd *cobra.Command, flag string) string { return cmd.Flags().Lookup(flag).Value.String() }

// Into writes the given values into a document.
func (g Given) Into(cmd *cobra.Command, doc map[string]any) error {
	for _, f := range g {
		if !cmd.Flags().Changed(f.Flag) {
			continue
		}
		v, err := f.value.document()
		if err != nil {
			return err
		}
		if !f.clearable && (v == nil || v == "") {
			continue
		}
		at := doc
		path := strings.Split(f.Path, ".")
		for _, name := range path[:len(path)-1] {
			below, ok := at[name].(map[string]any)
			if !ok {
				below = map[string]any{}
				at[name] = below
			}
			at = below
		}
		at[path[len(path)-1]] = v
	}
	return nil
}

// Filter is a flag of a list command. It sets a query parameter.
type Filter struct {
	flag, parameter string
	usage           string
	value           Maker
	complete        func(p *session.Program) Completion
}

func addFilters(p *session.Program, cmd *cobra.Command, filters []Filter) {
	for _, f := range filters {
		short := ""
		if f.flag == "selector" {
			short = "l"
		}
		addFlag(p, cmd, f.flag, short, f.usage, f.value(f.flag, false), f.complete)
	}
}

// filtered returns the query parameters of the filters that the user set. It checks their values first.
func filtered(cmd *cobra.Command, filters []Filter) (session.Query, error) {
	var q session.Query
	for _, f := range filters {
		v, is := cmd.Flags().Lookup(f.flag).Value.(Value)
		if !is || v.String() == "" {
			continue
		}
		if _, err := v.document(); err != nil {
			return nil, err
		}
		q = q.With(f.parameter, v.String())
	}
	return q, nil
}

// By returns a filter without a completion.
func By(flag, parameter, usage string, value Maker) Filter {
	return Filter{flag, parameter, usage, value, nil}
}

// These filters belong to several kinds.

// SelectorFilter returns the filter on labels. The server checks the syntax.
func SelectorFilter(kinds string) Filter {
	return Filter{"selector", "labelSelector", "only " + kinds + " with these `LABELS`: 'a=b,c!=d,e in (f,g),!h'", Text, nil}
}

// FamilyFilter returns the filter by address family.
func FamilyFilter(what string) Filter {
	return Filter{"family", "ipFamily", "only " + what + " of this address family: IPv4, IPv6", FamilyText, nil}
}

// ClassFilter returns the filter by class.
func ClassFilter(usage string) Filter {
	return Filter{"class", "class", usage, NameOf("class"), CompleteClasses}
}

// PoolFilter returns the filter by pool.
func PoolFilter() Filter {
	return Filter{"pool", "pool", "only blocks from this `POOL`, name or project/name", RefOf, CompletePools}
}

// PlaceFilters returns the filters by address.
func PlaceFilters() []Filter {
	return []Filter{
		{"within", "within", "only blocks inside this `CIDR`", Text, nil},
		{"contains", "contains", "only blocks that contain this `ADDRESS`", Text, nil},
	}
}
