package show

import (
	"fmt"
	"reflect"
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
func Columns[T any](text string, cells Cells[T]) []Column[T] {
	columns, _ := columnsOf(text, cells)
	return columns
}

// ViewOf returns a kind's view. An object's name is in metadata.name, name or id. Fields with the option more are only for `show`.
func ViewOf[T any](kind, text string, cells Cells[T]) View[T] {
	v := View[T]{Kind: kind}
	v.Columns, v.More = columnsOf(text, cells)
	for _, path := range []string{"id", "name", "metadata.name"} {
		if TypeAt[T](path) != nil {
			v.Name = Field[T](path)
		}
	}
	return v
}

// Blocks returns the view for a kind whose objects have a block. --quiet prints the block.
func (v View[T]) Blocks() View[T] {
	v.Cidr = Field[T]("status.allocatedCIDR")
	return v
}

func columnsOf[T any](text string, cells Cells[T]) (columns, more []Column[T]) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		title, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		options := strings.Split(rest, ", ")
		c := Column[T]{Title: title, Cell: cells[options[0]]}
		if c.Cell == nil {
			c.Cell = Field[T](options[0])
		}
		for _, option := range options[1:] {
			if empty, is := strings.CutPrefix(option, "or "); is {
				cell := c.Cell
				c.Cell = func(t T) string { return FirstOf(cell(t), empty) }
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
		if t.Kind() != reflect.Struct {
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

// TypeAt returns a field's type in T. For a pointer, it returns the type that it points to. If there is no such field, it returns nil.
func TypeAt[T any](path string) reflect.Type {
	t, _ := fieldAt(reflect.TypeFor[T](), path)
	return t
}

// Field returns the function that formats a field of T. If a part of the path is missing, the text is empty.
func Field[T any](path string) func(T) string {
	of, index := fieldAt(reflect.TypeFor[T](), path)
	if of == nil {
		panic(fmt.Sprintf("%T has no field %s", *new(T), path)) // a mistake in this program
	}
	_, home := fieldAt(reflect.TypeFor[T](), "metadata.project")
	return func(t T) string {
		v := reflect.ValueOf(t)
		field, err := v.FieldByIndexErr(index)
		if err != nil {
			return ""
		}
		return textOf(field, v.FieldByIndex(home))
	}
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

// Mapped returns the columns for rows that contain a T.
func Mapped[U, T any](columns []Column[T], of func(U) T) []Column[U] {
	out := make([]Column[U], len(columns))
	for i, c := range columns {
		out[i] = Column[U]{Title: c.Title, Wide: c.Wide, Bar: c.Bar, NeverCut: c.NeverCut, Cell: func(u U) string { return c.Cell(of(u)) }}
	}
	return out
}
