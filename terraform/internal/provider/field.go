package provider

import (
	"context"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// form is the shape of a value.
type form int

const (
	text form = iota
	number
	flag
	texts   // a list of strings, in their order
	textSet // strings in no order
	textMap
	object
	objects // a list of objects
)

// field is an attribute, and where its value is in the documents of the API.
type field struct {
	name  string
	about string
	form  form
	// at is the JSON pointer of what is written; by default /spec/ and the name in camel case. Local attributes have none: "-".
	at string
	// from is where the server says what came of it, when it was not written; derive works it out of the document.
	from   string
	derive func(document) any
	fields []field // of objects

	required, computed, replace, secret bool
	key                                 bool // belongs to what the thing is found by
	ref                                 bool // "name" or "project/name", a structure of the two in the API
	dataOnly                            bool // of data sources alone
	later                               bool // the API takes it for an object that exists
	def                                 any  // what the server takes when nothing is written
	check                               check
	oneOf                               []string
	same                                func(v any) any    // the value as the server would write it
	redundant                           func(values) bool  // whether other attributes say the same
	of                                  string             // the collection of the container that the value names
	implied                             func(document) any // what a document means that has no value
}

// unknown is a value that is known after apply.
type unknown struct{}

// values are those of attributes, by their names: nil, string, int64 (or *big.Float for a number that is none, which the validation refuses), bool, []any and map[string]any, or unknown.
type values map[string]any

func (v values) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// pointer is where the API has the value.
func (f field) pointer() string {
	if f.at != "" {
		return f.at
	}
	return "/spec/" + camel(f.name)
}

func (f field) local() bool { return f.at == "-" }

// output reports whether the server alone says it.
func (f field) output() bool { return f.computed && f.at == "" && (f.from != "" || f.derive != nil) }

// settable reports whether a configuration may have it.
func (f field) settable() bool { return !f.output() && !f.dataOnly }

// optionalComputed reports whether the server says it when the configuration does not.
func (f field) optionalComputed() bool {
	return !f.required && (f.from != "" || f.derive != nil || f.def != nil || f.computed)
}

// camel is how the contract writes a name; it writes abbreviations in capitals.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		switch w {
		case "ttl", "cidr":
			words[i+1] = strings.ToUpper(w)
		default:
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// attrType is the type of the attribute.
func (f field) attrType() attr.Type {
	switch f.form {
	case number:
		return types.NumberType
	case flag:
		return types.BoolType
	case texts:
		return types.ListType{ElemType: types.StringType}
	case textSet:
		return types.SetType{ElemType: types.StringType}
	case textMap:
		return types.MapType{ElemType: types.StringType}
	case object, objects:
		of := map[string]attr.Type{}
		for _, inner := range f.fields {
			of[inner.name] = inner.attrType()
		}
		if f.form == objects {
			return types.ListType{ElemType: types.ObjectType{AttrTypes: of}}
		}
		return types.ObjectType{AttrTypes: of}
	default:
		return types.StringType
	}
}

// raw is a value for Terraform.
func (f field) raw(ctx context.Context, v any) tftypes.Value {
	t := f.attrType().TerraformType(ctx)
	switch v := v.(type) {
	case nil:
		return tftypes.NewValue(t, nil)
	case unknown:
		return tftypes.NewValue(t, tftypes.UnknownValue)
	case int64:
		return tftypes.NewValue(t, big.NewFloat(0).SetInt64(v))
	case []any:
		of := field{form: text}
		if f.form == objects {
			of = field{form: object, fields: f.fields}
		}
		list := make([]tftypes.Value, len(v))
		for i, element := range v {
			list[i] = of.raw(ctx, element)
		}
		return tftypes.NewValue(t, list)
	case map[string]any:
		all := map[string]tftypes.Value{}
		if f.form == object {
			for _, inner := range f.fields {
				all[inner.name] = inner.raw(ctx, v[inner.name])
			}
		} else {
			for key, element := range v {
				all[key] = field{}.raw(ctx, element)
			}
		}
		return tftypes.NewValue(t, all)
	default:
		return tftypes.NewValue(t, v)
	}
}

// plain is a value of Terraform.
func plain(v tftypes.Value) any {
	switch {
	case !v.IsKnown():
		return unknown{}
	case v.IsNull():
		return nil
	}
	var s string
	var b bool
	var n big.Float
	var list []tftypes.Value
	var m map[string]tftypes.Value
	switch {
	case v.As(&s) == nil:
		return s
	case v.As(&b) == nil:
		return b
	case v.As(&n) == nil:
		if i, exact := n.Int64(); exact == big.Exact {
			return i
		}
		return &n
	case v.As(&list) == nil:
		all := make([]any, len(list))
		for i, element := range list {
			all[i] = plain(element)
		}
		return all
	case v.As(&m) == nil:
		all := map[string]any{}
		for key, element := range m {
			all[key] = plain(element)
		}
		return all
	}
	return nil
}

// read takes the values out of a plan, a state or a configuration.
func read(v tftypes.Value) values {
	m, _ := plain(v).(map[string]any)
	return m
}

// write makes a plan or a state of values.
func write(ctx context.Context, t tftypes.Type, fields []field, v values) tftypes.Value {
	all := map[string]tftypes.Value{}
	for _, f := range fields {
		all[f.name] = f.raw(ctx, v[f.name])
	}
	return tftypes.NewValue(t, all)
}

// known reports whether a value has nothing unknown in it.
func known(v any) bool {
	switch v := v.(type) {
	case unknown:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !known(e) })
	case map[string]any:
		return !slices.ContainsFunc(slices.Collect(maps.Values(v)), func(e any) bool { return !known(e) })
	default:
		return true
	}
}
