package plan

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// shape compares a document with the type that it will be decoded into. The decoder would refuse unknown keys and wrong types without positions.
// shape reports them with their positions.
func (f *planFaults) shape(at string, doc any, as reflect.Type) {
	for as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	if doc == nil {
		return // null counts as absent
	}
	switch as.Kind() {
	case reflect.Struct, reflect.Map:
		members, is := doc.(object)
		if !is {
			f.add(at, "must be a map of keys and values")
			return
		}
		keys := map[string]reflect.Type{}
		if as.Kind() == reflect.Struct {
			keysOf(as, keys)
		}
		for name, value := range show.Sorted(members) {
			if as.Kind() == reflect.Map {
				f.shape(within(at, name), value, as.Elem())
			} else if known := keyNamed(keys, name); known != nil {
				f.shape(within(at, name), value, known)
			} else {
				f.add(within(at, name), "is not a key of a plan; %s", nearKeys(name, keys))
			}
		}
	case reflect.Slice:
		items, is := doc.([]any)
		if !is {
			f.add(at, "must be a list")
			return
		}
		for i, item := range items {
			f.shape(at+"["+strconv.Itoa(i)+"]", item, as.Elem())
		}
	case reflect.String:
		if _, is := doc.(string); !is {
			f.add(at, "must be a text: write it in quotes")
		}
	case reflect.Bool:
		if _, is := doc.(bool); !is {
			f.add(at, "must be true or false")
		}
	default: // all numbers in a plan are integers
		n, is := doc.(json.Number)
		if _, err := strconv.Atoi(n.String()); !is || err != nil {
			f.add(at, "must be a whole number")
		}
	}
}

// keysOf collects a type's keys, including those from embedded types.
func keysOf(t reflect.Type, into map[string]reflect.Type) {
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			keysOf(field.Type, into)
		case name != "" && name != "-":
			into[name] = field.Type
		}
	}
}

// keyNamed finds a key as the decoder does, without regard to case. It returns nil if there is none.
func keyNamed(keys map[string]reflect.Type, name string) reflect.Type {
	if t, found := keys[name]; found {
		return t
	}
	for key, t := range keys {
		if strings.EqualFold(key, name) {
			return t
		}
	}
	return nil
}

// nearKeys suggests the key that the user probably meant. If no key is similar, it lists all keys.
func nearKeys(name string, keys map[string]reflect.Type) string {
	all := slices.Sorted(maps.Keys(keys))
	best, distance := "", len(name)/2+1
	for _, key := range all {
		if d := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(key)); d < distance {
			best, distance = key, d
		}
	}
	if best != "" {
		return "did you mean " + best + "?"
	}
	return "the keys are " + show.JoinComma(all)
}
