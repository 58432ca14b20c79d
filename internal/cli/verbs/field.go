package verbs

import (
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Value is a flag's value that can be converted for a document.
type Value interface {
	pflag.Value
	// document returns the value for a document. In a merge patch, nil becomes null. In a new document, nil means that the field is absent.
	document() (any, error)
}

// Maker makes a flag's value. If it is clearable, it accepts `none`, which resets the field to its default.
type Maker func(flag string, clearable bool) Value

// Field is a document's field, or a list's query parameter, with its flag.
type Field struct {
	Flag, Short string
	// Path is the place in the document, such as spec.allocation.strategy, or the parameter's name. The default is the flag in camel case, below spec if
	// the document has a spec: reuse-after becomes spec.reuseAfter.
	Path string
	// Value makes the value. By default the field's type in the contract decides. Words lists the valid words, separated by spaces, if there are only a
	// few.
	Value Maker
	Words string
	// Usage is the help text in `create` and `set`. Create and Set override it for their command. If a command has no text, it does not have the
	// flag.
	Usage, Create, Set string
	Complete           func(p *session.Program) Completion
}

// given has a command's flags with their fields and values.
type given struct {
	flags     *pflag.FlagSet
	fields    []Field
	clearable bool
}

// addFields adds flags for the fields of an object's type, or for parameters if the type is nil. If the parameter set is true, the command is `set`;
// otherwise it creates or lists objects.
func addFields(p *session.Program, cmd *cobra.Command, object reflect.Type, fields []Field, set bool) given {
	out := given{flags: cmd.Flags(), clearable: set}
	for _, f := range fields {
		usage := show.FirstOf(f.Create, f.Usage)
		if set {
			usage = show.FirstOf(f.Set, f.Usage)
		}
		if usage != "" {
			f.Path = show.FirstOf(f.Path, pathOf(object, f.Flag))
			t := show.TypeAt(object, f.Path)
			if t == nil && show.TypeAt(object, "spec") != nil {
				panic("--" + f.Flag + ": there is no field " + f.Path) // a mistake in this program
			}
			f.add(p, cmd, usage, f.maker(t)(f.Flag, set))
			out.fields = append(out.fields, f)
		}
	}
	return out
}

// pathOf returns the default place of a flag's field: in the object's spec, if it has one.
func pathOf(object reflect.Type, flag string) string {
	words := strings.Split(flag, "-")
	for i := range words[1:] {
		words[i+1] = show.Capital(words[i+1])
	}
	name := strings.Join(words, "")
	if show.TypeAt(object, "spec") == nil {
		return name
	}
	return "spec." + name
}

// maker returns the function that makes the flag's value. t is the field's type, or nil for a parameter.
func (f Field) maker(t reflect.Type) Maker {
	switch {
	case f.Value != nil:
		return f.Value
	case f.Words != "":
		return oneOf(known(strings.Fields(f.Words), t)...)
	case t == nil:
		return anyText
	case t == reflect.TypeFor[client.IPFamily]():
		return familyText
	case t == reflect.TypeFor[client.Ref]():
		return RefOf
	case t.Kind() == reflect.Int:
		return Bits // the only int fields without a Value are prefix lengths
	case t.Kind() == reflect.Bool:
		return yesOrNo
	case t.Kind() == reflect.Map:
		return pairsOf
	default:
		return anyText
	}
}

// known returns a field's words. It panics if the field's type in the contract does not have one of them.
func known(words []string, t reflect.Type) []string {
	for _, word := range words {
		if t == nil {
			break // a parameter
		}
		v := reflect.New(t).Elem()
		v.SetString(word)
		if of, is := reflect.TypeAssert[interface{ Valid() bool }](v); is && !of.Valid() {
			panic(word + " is no " + t.Name())
		}
	}
	return words
}

// add adds the flag with its completion.
func (f Field) add(p *session.Program, cmd *cobra.Command, usage string, v Value) {
	var words []string
	if c, is := v.(*Plain); is && c.words != nil {
		words = c.words
		usage += ": " + show.JoinComma(words)
	}
	flag := cmd.Flags().VarPF(v, f.Flag, f.Short, usage)
	if flag.DefValue == "[]" {
		flag.DefValue = "" // the help omits an empty list as a default
	}
	switch {
	case v.Type() == "bool":
		flag.NoOptDefVal = "true"
	case words != nil:
		CompleteWords(cmd, f.Flag, words)
	case f.Complete != nil:
		CompleteFlag(cmd, f.Flag, f.Complete(p))
	}
}

// FlagText returns a flag's value as text.
func FlagText(cmd *cobra.Command, flag string) string { return cmd.Flags().Lookup(flag).Value.String() }

// value returns the value that a field's flag has.
func (g given) value(f Field) Value {
	v, _ := g.flags.Lookup(f.Flag).Value.(Value) // addFields adds only such values
	return v
}

// into writes the values that the user set into a document.
func (g given) into(doc map[string]any) error {
	for _, f := range g.fields {
		if !g.flags.Changed(f.Flag) {
			continue
		}
		v, err := g.value(f).document()
		if err != nil {
			return err
		}
		if !g.clearable && (v == nil || v == "") {
			continue
		}
		path := strings.Split(f.Path, ".")
		last := len(path) - 1
		Below(doc, path[:last]...)[path[last]] = v
	}
	return nil
}

// Below returns the object at a path in a document. It creates missing objects.
func Below(doc map[string]any, path ...string) map[string]any {
	for _, name := range path {
		if doc[name] == nil {
			doc[name] = map[string]any{}
		}
		doc, _ = doc[name].(map[string]any) // always an object, because into writes only objects above a field
	}
	return doc
}

// query returns the query parameters that the user set. It checks their values first.
func (g given) query() (q session.Query, err error) {
	for _, f := range g.fields {
		v := g.value(f)
		if v.String() == "" {
			continue
		}
		if _, err := v.document(); err != nil {
			return nil, err
		}
		q = q.With(f.Path, v.String())
	}
	return q, nil
}
