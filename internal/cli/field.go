package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// value is a flag that knows what a document has for it.
type value interface {
	pflag.Value
	// document is what a document has; nil is null in a merge patch, and nothing in a new document.
	document() (any, error)
}

// maker makes the value of a flag. A clearable one takes `none`, which gives a field its default.
type maker func(flag string, clearable bool) value

// field is a field of a document, and the flag that says it.
type field struct {
	flag, short string
	path        string // spec.allocation.strategy
	value       maker
	// usage is the help in `create` and `set`. Where they differ, create and set have it; one without a text has no such flag.
	usage, create, set string
	complete           func(p *program) completion
}

// given are the fields of a verb with the values of their flags.
type given []struct {
	field
	value     value
	clearable bool
}

// addFields adds the flags of fields: those of `set`, or those of whatever makes something new.
func (p *program) addFields(cmd *cobra.Command, fields []field, set bool) given {
	var out given
	for _, f := range fields {
		usage := firstOf(f.create, f.usage)
		if set {
			usage = firstOf(f.set, f.usage)
		}
		if usage == "" {
			continue
		}
		v := f.value(f.flag, set)
		p.addFlag(cmd, f.flag, f.short, usage, v, f.complete)
		out = append(out, struct {
			field
			value     value
			clearable bool
		}{f, v, set})
	}
	return out
}

// addFlag adds one flag, with its completion.
func (p *program) addFlag(cmd *cobra.Command, name, short, usage string, v pflag.Value, complete func(p *program) completion) {
	c, isChoice := v.(*choice)
	if isChoice {
		usage += ": " + words(c.words)
	}
	flag := cmd.Flags().VarPF(v, name, short, usage)
	if flag.DefValue == "[]" {
		flag.DefValue = "" // an empty list is no default worth a word
	}
	switch {
	case v.Type() == "bool":
		flag.NoOptDefVal = "true"
	case isChoice:
		completeWords(cmd, name, c.words)
	case complete != nil:
		completeFlag(cmd, name, complete(p))
	}
}

// said is the value of a flag as a text.
func said(cmd *cobra.Command, flag string) string { return cmd.Flags().Lookup(flag).Value.String() }

// into writes what was given into a document.
func (g given) into(cmd *cobra.Command, doc map[string]any) error {
	for _, f := range g {
		if !cmd.Flags().Changed(f.flag) {
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
		path := strings.Split(f.path, ".")
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

// filter is a flag of a list and the parameter that it becomes.
type filter struct {
	flag, parameter string
	usage           string
	value           maker
	complete        func(p *program) completion
}

func (p *program) addFilters(cmd *cobra.Command, filters []filter) {
	for _, f := range filters {
		short := ""
		if f.flag == "selector" {
			short = "l"
		}
		p.addFlag(cmd, f.flag, short, f.usage, f.value(f.flag, false), f.complete)
	}
}

// filtered are the parameters of the filters that were given, each of which its value has judged.
func filtered(cmd *cobra.Command, filters []filter) (query, error) {
	var q query
	for _, f := range filters {
		v, is := cmd.Flags().Lookup(f.flag).Value.(value)
		if !is || v.String() == "" {
			continue
		}
		if _, err := v.document(); err != nil {
			return nil, err
		}
		q = q.with(f.parameter, v.String())
	}
	return q, nil
}

// Filters that several kinds have.

// selectorFilter is the filter on labels, whose syntax is the server's to judge.
func selectorFilter(kinds string) filter {
	return filter{"selector", "labelSelector", "only " + kinds + " with such `LABELS`: 'a=b,c!=d,e in (f,g),!h'", text, nil}
}

func familyFilter(what string) filter {
	return filter{"family", "ipFamily", "only " + what + " of this address family: IPv4, IPv6", familyText, nil}
}

func classFilter(usage string) filter {
	return filter{"class", "class", usage, nameOf("class"), (*program).completeClasses}
}

func poolFilter() filter {
	return filter{"pool", "pool", "only what was carved from this `POOL`, name or project/name", refOf, (*program).completePools}
}

// placeFilters are the filters by place.
func placeFilters() []filter {
	return []filter{
		{"within", "within", "only blocks inside this `CIDR`", text, nil},
		{"contains", "contains", "only blocks that contain this `ADDRESS`", text, nil},
	}
}
