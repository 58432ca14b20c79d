package crdb

import (
	"reflect"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

// each is the statement, and its arguments, for n rows whose columns are arrays behind the scalar arguments. For one row there is a statement
// of its own, with values instead of arrays, and for rows that are alike one with values for the columns that repeat themselves: a
// table is made of each array, which takes longer than the rest of writing a row.
func each(name string, n, scalars int, args []any) (string, []any) {
	varies := query.Columns(name)
	if n != 1 && (varies == nil || !alike(args[scalars:], varies)) {
		return name, args
	}
	out := slices.Clone(args)
	for i := range args[scalars:] {
		if n == 1 || !varies[i] {
			out[scalars+i] = reflect.ValueOf(args[scalars+i]).Index(0).Interface()
		}
	}
	if n == 1 {
		return name + "_one", out
	}
	return name + "_alike", out
}

// alike reports whether rows differ in nothing but the columns that may vary.
func alike(columns []any, varies []bool) bool {
	for i, c := range columns {
		if !varies[i] && !same(c) {
			return false
		}
	}
	return true
}

// same reports whether all values of a column are surely equal; what pointers point to is compared.
func same(column any) bool {
	switch list := column.(type) {
	case []string:
		return equal(list)
	case [][16]byte:
		return equal(list)
	case []int16:
		return equal(list)
	case []int64:
		return equal(list)
	case []bool:
		return equal(list)
	case []time.Time:
		return equal(list)
	case []*string:
		return equalBehind(list)
	case []*[16]byte:
		return equalBehind(list)
	case []*time.Time:
		return equalBehind(list)
	default:
		return false
	}
}

func equal[T comparable](list []T) bool {
	for _, v := range list[1:] {
		if v != list[0] {
			return false
		}
	}
	return true
}

func equalBehind[T comparable](list []*T) bool {
	first := list[0]
	for _, v := range list[1:] {
		if v != first && (v == nil || first == nil || *v != *first) {
			return false
		}
	}
	return true
}
