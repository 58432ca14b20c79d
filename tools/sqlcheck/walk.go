package sqlcheck

import (
	"reflect"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// A node is one value of a syntax tree. Its parents lead to the root.
type node struct {
	value  any
	parent *node
}

// within reports whether a node has a parent of type T, at any level.
func within[T any](n *node) bool {
	for up := n.parent; up != nil; up = up.parent {
		if _, ok := up.value.(T); ok {
			return true
		}
	}
	return false
}

// walk visits every node of a tree, parents first. It uses reflection to visit everything, so that no nested expression escapes a rule. The parser's
// own visitor stops at statements, table expressions and definitions.
func walk(root any, visit func(*node)) {
	descend(reflect.ValueOf(root), nil, visit)
}

func descend(v reflect.Value, parent *node, visit func(*node)) {
	if !v.IsValid() || !v.CanInterface() {
		return
	}
	switch v.Kind() {
	case reflect.Interface:
		descend(v.Elem(), parent, visit)
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		n := &node{value: v.Interface(), parent: parent}
		visit(n)
		if _, leaf := n.value.(*types.T); !leaf {
			children(v.Elem(), n, visit)
		}
	case reflect.Struct, reflect.String:
		n := &node{value: v.Interface(), parent: parent}
		visit(n)
		children(v, n, visit)
	case reflect.Slice, reflect.Array:
		children(v, parent, visit)
	default: // numbers and flags
	}
}

func children(v reflect.Value, parent *node, visit func(*node)) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			descend(field, parent, visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			descend(v.Index(i), parent, visit)
		}
	case reflect.Interface:
		descend(v.Elem(), parent, visit)
	default:
	}
}
