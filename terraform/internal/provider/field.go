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

// form is a value's shape.
type form int

const (
	text form = iota
	number
	flag
	texts   // ordered strings
	textSet // unordered strings
	textMap
	object
	objects // a list
)

// field describes an attribute and its place in the API's documents.
type field struct {
	name  string
	about string
	form  form
	// at is the value's JSON pointer in a request. The default is /spec/ and the name in camel case. If the API does not have the attribute, at is
	// "-" and the attribute is local.
	at string
	// from and derive are for a value that the request did not set. from is the JSON pointer at which the server reports the value. derive computes
	// the value from the document.
	from   string
	derive func(document) any
	fields []field // attributes inside an object or objects

	required, computed, replace, secret bool
	key                                 bool // with the other keys, it identifies the object; it is local, and a change forces a new object
	ref                                 bool // a reference: "name" or "project/name" in Terraform, an object with both in the API's member *Ref
	dataOnly                            bool // only in data sources
	later                               bool // a request can set it only for an existing object
	def                                 any  // the server's value if the request does not set it
	check                               check
	oneOf                               []string
	same                                func(s string) any // returns the value as the server writes it
	redundant                           func(values) bool  // reports whether other attributes already determine the value
	of                                  string             // the collection, such as "pools", with the container that the value names
	implied                             func(document) any // the value that a document implies if it does not contain the value
}

// unknown is a value that becomes known only during apply.
type unknown struct{}

// values maps attribute names to values. A value is nil, string, int64, bool, []any, map[string]any or unknown. A number that is not an
// int64 is a *big.Float. The validation refuses such a number.
type values map[string]any

func (v values) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// pointer returns the value's JSON pointer in the API.
func (f field) pointer() string {
	switch {
	case f.at != "":
		return f.at
	case f.ref:
		return "/spec/" + camel(f.name) + "Ref"
	}
	return "/spec/" + camel(f.name)
}

func (f field) local() bool { return f.key || f.at == "-" }

// forces reports whether a changed value forces a new object.
func (f field) forces() bool { return f.key || f.replace }

// output reports whether only the server sets the value.
func (f field) output() bool { return f.computed && f.at == "" && (f.from != "" || f.derive != nil) }

// settable reports whether a configuration may set the value.
func (f field) settable() bool { return !f.output() && !f.dataOnly }

// optionalComputed reports whether the server sets the value if the configuration does not.
func (f field) optionalComputed() bool {
	return !f.required && (f.from != "" || f.derive != nil || f.def != nil || f.computed)
}

// decided reports whether the server decides the attribute's value, because the configuration has none.
func (f field) decided(config values) bool {
	return config[f.name] == nil && f.optionalComputed() && f.def == nil && !f.key
}

// element returns the field for a list's elements.
func (f field) element() field {
	if f.form == objects {
		return field{form: object, fields: f.fields}
	}
	return field{}
}

// each converts each element in a list.
func each[T, U any](list []T, convert func(T) U) []U {
	all := make([]U, len(list))
	for i, element := range list {
		all[i] = convert(element)
	}
	return all
}

// camel converts a name to camel case with abbreviations in capitals, as the contract spells it.
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

// attrType returns the attribute's type in the framework.
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
	case objects:
		return types.ListType{ElemType: f.element().attrType()}
	case object:
		of := map[string]attr.Type{}
		for _, inner := range f.fields {
			of[inner.name] = inner.attrType()
		}
		return types.ObjectType{AttrTypes: of}
	default:
		return types.StringType
	}
}

// raw converts a value to a Terraform value.
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
		return tftypes.NewValue(t, each(v, func(element any) tftypes.Value { return f.element().raw(ctx, element) }))
	case map[string]any:
		all := map[string]tftypes.Value{}
		for _, inner := range f.fields {
			all[inner.name] = inner.raw(ctx, v[inner.name])
		}
		if f.form == textMap {
			for key, element := range v {
				all[key] = f.element().raw(ctx, element)
			}
		}
		return tftypes.NewValue(t, all)
	default:
		return tftypes.NewValue(t, v)
	}
}

// plain converts a Terraform value to a Go value, as in [values].
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
		return each(list, plain)
	case v.As(&m) == nil:
		all := map[string]any{}
		for key, element := range m {
			all[key] = plain(element)
		}
		return all
	}
	return nil
}

// read returns the values in a plan, a state or a configuration.
func read(v tftypes.Value) values {
	m, _ := plain(v).(map[string]any)
	return m
}

// write builds a plan, a state or a configuration from values.
func write(ctx context.Context, fields []field, v values) tftypes.Value {
	return field{form: object, fields: fields}.raw(ctx, map[string]any(v))
}

// known reports whether a value contains no unknown value.
func known(v any) bool {
	switch v := v.(type) {
	case unknown:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !known(e) })
	case map[string]any:
		return known(slices.Collect(maps.Values(v)))
	default:
		return true
	}
}
