package verbs

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Value is a flag that knows what a document has for it.
type Value interface {
	pflag.Value
	// document is what a document has; nil is null in a merge patch, and nothing in a new document.
	document() (any, error)
}

// Maker makes the value of a flag. A clearable one takes `none`, which gives a field its default.
type Maker func(flag string, clearable bool) Value

// Field is a field of a document, and the flag that says it.
type Field struct {
	Flag, Short string
	Path        string // spec.allocation.strategy
	Value       Maker
	// usage is the help in `create` and `set`. Where they differ, create and set have it; one without a text has no such flag.
	Usage, Create, Set string
	Complete           func(p *session.Program) Completion
}

// Given are the fields of a verb with the values of their flags.
type Given []struct {
	Field
	value     Value
	clearable bool
}

// AddFields adds the flags of fields: those of `set`, or those of whatever makes something new.
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

// addFlag adds one flag, with its completion.
func addFlag(p *session.Program, cmd *cobra.Command, name, short, usage string, v pflag.Value, complete func(p *session.Program) Completion) {
	c, _ := v.(*Plain)
	isChoice := c != nil && c.words != nil
	if isChoice {
		usage += ": " + show.Words(c.words)
	}
	flag := cmd.Flags().VarPF(v, name, short, usage)
	if flag.DefValue == "[]" {
		flag.DefValue = "" // an empty list is no default worth a word
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

// Said is the value of a flag as a text.
func Said(cmd *cobra.Command, flag string) string { return cmd.Flags().Lookup(flag).Value.String() }

// Into writes what was given into a document.
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

// Filter is a flag of a list and the parameter that it becomes.
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

// filtered are the parameters of the filters that were given, each of which its value has judged.
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

// By is a filter without a completion of its own.
func By(flag, parameter, usage string, value Maker) Filter {
	return Filter{flag, parameter, usage, value, nil}
}

// Filters that several kinds have.

// SelectorFilter is the filter on labels, whose syntax is the server's to judge.
func SelectorFilter(kinds string) Filter {
	return Filter{"selector", "labelSelector", "only " + kinds + " with such `LABELS`: 'a=b,c!=d,e in (f,g),!h'", Text, nil}
}

// FamilyFilter is the filter by address family.
func FamilyFilter(what string) Filter {
	return Filter{"family", "ipFamily", "only " + what + " of this address family: IPv4, IPv6", FamilyText, nil}
}

// ClassFilter is the filter by class.
func ClassFilter(usage string) Filter {
	return Filter{"class", "class", usage, NameOf("class"), CompleteClasses}
}

// PoolFilter is the filter by pool.
func PoolFilter() Filter {
	return Filter{"pool", "pool", "only what was carved from this `POOL`, name or project/name", RefOf, CompletePools}
}

// PlaceFilters are the filters by place.
func PlaceFilters() []Filter {
	return []Filter{
		{"within", "within", "only blocks inside this `CIDR`", Text, nil},
		{"contains", "contains", "only blocks that contain this `ADDRESS`", Text, nil},
	}
}
