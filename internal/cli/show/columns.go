package show

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/client"
)

// Cells has the functions that compute cells from several fields. The key is the word in the text of the columns.
type Cells[T any] map[string]func(T) string

// Columns returns the columns that a text describes, one a line. A line has the title, a field's path in T, and options:
//
//	NAME: metadata.name
//	SPACE: status.spaceRef, wide          only -o wide shows the column
//	USED: status.utilizationPercent, bar  a terminal draws a bar
//	EXPIRES: spec.expiresAt, or never     the text for an empty field
//	LENGTHS: lengths                      the function in cells with this key
//
// Columns panics if there is neither such a field nor such a function.
func Columns[T any](text string, cells Cells[T]) []Column {
	columns, _ := columnsOf(reflect.TypeFor[T](), text, cells.ofAny())
	return columns
}

// ViewOf returns a kind's view. An object's name is in metadata.name, name or id. Fields with the option more are only for `show`.
func ViewOf[T any](kind, text string, cells Cells[T]) View {
	v := View{Kind: kind, Object: reflect.TypeFor[T]()}
	v.Columns, v.More = columnsOf(v.Object, text, cells.ofAny())
	for _, path := range []string{"id", "name", "metadata.name"} {
		if TypeAt(v.Object, path) != nil {
			v.Name = field(v.Object, path)
		}
	}
	return v
}

// Blocks returns the view for a kind whose objects have a block. --quiet prints the block.
func (v View) Blocks() View {
	v.Cidr = field(v.Object, "status.allocatedCIDR")
	return v
}

// ofAny returns the functions for objects of any type.
func (cells Cells[T]) ofAny() map[string]Cell {
	out := map[string]Cell{}
	for word, text := range cells {
		out[word] = CellOf(text)
	}
	return out
}

func columnsOf(object reflect.Type, text string, cells map[string]Cell) (columns, more []Column) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		title, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		options := strings.Split(rest, ", ")
		c := Column{Title: title, Cell: cells[options[0]]}
		if c.Cell == nil {
			c.Cell = field(object, options[0])
		}
		for _, option := range options[1:] {
			if empty, is := strings.CutPrefix(option, "or "); is {
				cell := c.Cell
				c.Cell = func(object any) string { return FirstOf(cell(object), empty) }
			}
			c.Wide, c.Bar = c.Wide || option == "wide", c.Bar || option == "bar"
		}
		if options[len(options)-1] == "more" {
			more = append(more, c)
		} else {
			columns = append(columns, c)
		}
	}
	return columns, more
}

// fieldAt returns a field's type, and its index for reflect.Value.FieldByIndex. The path has the JSON document's names. If there is no such
// field, the type is nil.
func fieldAt(t reflect.Type, path string) (of reflect.Type, index []int) {
	for name := range strings.SplitSeq(path, ".") {
		if t == nil || t.Kind() != reflect.Struct {
			return nil, nil
		}
		f, is := t.FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, name) })
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); !is || tag != "" && tag != name {
			return nil, nil
		}
		t, index = f.Type, append(index, f.Index...)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t, index
}

// TypeAt returns a field's type in an object's type. For a pointer, it returns the type that it points to. If there is no such field, it returns nil.
func TypeAt(object reflect.Type, path string) reflect.Type {
	t, _ := fieldAt(object, path)
	return t
}

// Field returns the function that formats a field of T. If a part of the path is missing, the text is empty.
func Field[T any](path string) func(T) string {
	cell := field(reflect.TypeFor[T](), path)
	return func(t T) string { return cell(t) }
}

func field(object reflect.Type, path string) Cell {
	of, index := fieldAt(object, path)
	if of == nil {
		panic(fmt.Sprintf("%s has no field %s", object, path)) // a mistake in this program
	}
	_, home := fieldAt(object, "metadata.project")
	return func(object any) string {
		v := reflect.ValueOf(object)
		field, err := v.FieldByIndexErr(index)
		if err != nil {
			return ""
		}
		return textOf(field, v.FieldByIndex(home))
	}
}

// ProjectOf returns the function that returns an object's project. The text is empty if the type has none.
func ProjectOf(object reflect.Type) Cell {
	const path = "metadata.project"
	if TypeAt(object, path) == nil {
		return func(any) string { return "" }
	}
	return field(object, path)
}

// textOf formats a field by its type. The contract uses *int only for prefix lengths; other optional numbers are *int64. home is the object's project.
func textOf(v, home reflect.Value) string {
	sign := ""
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		if v = v.Elem(); v.Kind() == reflect.Int {
			sign = "/"
		}
	}
	if v.Kind() == reflect.Map {
		v = v.Convert(reflect.TypeFor[map[string]string]())
	}
	switch x := v.Interface().(type) {
	case map[string]string:
		return JoinPairs(x)
	case time.Time:
		return TimeText(&x)
	case client.ResolvedRef:
		from, _ := reflect.TypeAssert[string](home) // an object outside projects names every project
		return RefText(&x, from)
	case client.OwnerRef:
		return strings.TrimRight(x.Kind+"/"+x.Name+"/"+x.UID, "/")
	case []string:
		return strings.Join(x, ",")
	case float64:
		return Percent(x)
	case bool:
		return yesOrEmpty(x)
	default:
		return sign + fmt.Sprint(x)
	}
}

// Mapped returns the columns for rows of type T that contain the columns' objects.
func Mapped[T any](columns []Column, object func(row T) any) []Column {
	out := slices.Clone(columns)
	for i, c := range columns {
		out[i].Cell = CellOf(func(row T) string { return c.Cell(object(row)) })
	}
	return out
}
