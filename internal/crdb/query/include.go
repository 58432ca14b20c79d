package query

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed columns.txt
var lists string

//go:embed sure.txt
var checkedForm string

// Column is a column of a list, with its type.
type Column struct {
	Name, Type string
	varies     bool // the rows of one transaction mostly differ in it
}

// A shape is for how many rows a statement is. PostgreSQL makes a table of each array, which takes longer than everything else there is to writing a
// row: so one row comes as values, and of rows that are alike only what differs comes as arrays.
type shape string

const (
	many  shape = "many"
	alike shape = "alike"
	one   shape = "one"
)

// keyed are the shapes in which so many rows are named by their keys, one by one. Where there are fewer rows, the last is named again.
var keyed = []shape{"keys2", "keys8", "keys32"}

// MostKeys is how many rows a statement can name by their keys.
const MostKeys = 32

// keys is how many rows are named by their keys in the shape; 0: they come as arrays, or there is one.
func (s shape) keys() int {
	count, is := strings.CutPrefix(string(s), "keys")
	if !is {
		return 0
	}
	n, _ := strconv.Atoi(count) // those above are numbers
	return n
}

// varies reports whether a column is an array in the shape.
func (s shape) varies(c Column) bool { return s == many || s == alike && c.varies }

// named is the name of a statement in the shape.
func (s shape) named(name string) string {
	if s == many {
		return name
	}
	return name + "_" + string(s)
}

// checked is what the name of a statement ends in that fails by itself unless it hits as many rows as it is told.
const checked = "_sure"

// failing is a statement that divides by zero (22012, on both engines) unless it hits as many rows as its last argument says: for a transaction that is
// sent whole, and that nobody can stop before its COMMIT.
func failing(text string) string {
	last := parameters(text)
	body := len(text) - len(strings.TrimLeft(text, "\n"))
	for line := range strings.Lines(text[body:]) {
		if !strings.HasPrefix(line, "--") {
			break
		}
		body += len(line)
	}
	remarks, statement := text[:body], answering(strings.TrimRight(text[body:], "\n"))
	return remarks + strings.NewReplacer("{{statement}}", statement, "{{want}}", fmt.Sprintf("$%d", last+1)).Replace(checkedForm)
}

// parameters is how many arguments a statement takes.
func parameters(text string) (last int) {
	for _, p := range parameter.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(p[1])
		last = max(last, n)
	}
	return last
}

// answering is a statement that answers something for each row that it changes, so that others can count them.
func answering(statement string) string {
	if strings.Contains(statement, "\nRETURNING ") {
		return statement
	}
	return statement + "\nRETURNING 1"
}

var (
	directive  = regexp.MustCompile(`^\s*-- @(\w+) (\w+(?:, \w+)*)(?: AS (\w+))?(?: FROM \$(\d+))?(,?)$`)
	shapesLine = regexp.MustCompile(`(?m)^-- shapes: +(.*)$`)
	parameter  = regexp.MustCompile(`\$(\d+)`)
)

// Expand answers the statements of a file by name, with their remarks. A line that begins with `-- @` stands for the columns of a list in columns.txt:
//
//	-- @columns pool AS p        p.id, p.project_id, …
//	-- @params pool FROM $1      $1, $2, …
//	-- @set pool_rule FROM $3    visibility = $3, strategy = $4, …
//
// A statement with a remark `-- shapes: sure` comes as hold_update_sure as well, which fails by itself: see failing. A statement for many rows may have
// `-- shapes: alike, one`, of which hold_insert_alike and hold_insert_one come. In it stand:
//
//	-- @values held_row FROM $2       k.project_id, k.container_id, …
//	-- @from held_row FROM $2         FROM unnest($2::UUID[], $3::UUID[], …) AS k (project_id, container_id, …)
//	-- @using held_key FROM $2        USING unnest(…) AS k (…)
//	-- @match held_key AS h FROM $2   h.id = k.id AND h.revision = k.revision
//	-- @among fence_id AS f FROM $2   f.id = ANY ($2::UUID[])
//
// With `-- shapes: keys` free_delete_keys2, _keys8 and _keys32 come as well, in which rows are named one by one. No plan of those reads what lies between
// them. One of arrays may, on CockroachDB, where it takes the table for short; and there, what was deleted in the last hours lies between them, too:
//
//	-- @using free_row FROM $2        nothing
//	-- @match free_row AS f FROM $2   (f.container_id, f.host_bits, f.base) IN (($2::UUID, $3::INT2, $4::BYTEA), ($5::UUID, …), …)
func Expand(name, text string) (map[string]string, error) {
	all, err := expand(name, text)
	out := make(map[string]string, len(all))
	for n, s := range all {
		out[n] = s.text
	}
	return out, err
}

// statement is a text for the database, and the columns of rows that it takes behind its other arguments.
type statement struct {
	text    string // in the end without its remarks
	remarks string // with them
	columns []Column
	shape   shape
	shapes  []shape // in which it can be had
}

func expand(name, text string) (map[string]statement, error) {
	shapes, surely := []shape{many}, false
	if said := shapesLine.FindStringSubmatch(text); said != nil {
		for s := range strings.SplitSeq(said[1], ", ") {
			switch s {
			case "sure":
				surely = true
			case "keys":
				shapes = append(shapes, keyed...)
			default:
				shapes = append(shapes, shape(s))
			}
		}
	}
	all := map[string]statement{}
	for _, s := range shapes {
		made := statement{shape: s, shapes: shapes}
		var lines []string
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "-- @") {
				expanded, err := made.include(strings.TrimRight(line, "\n"))
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				line = expanded + "\n"
			}
			lines = append(lines, line)
		}
		made.text = strings.Join(lines, "")
		all[s.named(name)] = made
		if surely {
			made.text = failing(made.text)
			all[s.named(name)+checked] = made
		}
	}
	return all, nil
}

// include is what a line stands for.
func (s *statement) include(line string) (string, error) {
	said := directive.FindStringSubmatch(line)
	if said == nil {
		return "", fmt.Errorf("%q is not a known line", line)
	}
	verb, as, first := said[1], said[3], 0
	if said[4] != "" {
		first, _ = strconv.Atoi(said[4])
	}
	var columns []Column
	for name := range strings.SplitSeq(said[2], ", ") {
		list, known := byName[name]
		if !known {
			return "", fmt.Errorf("unknown list %q", name)
		}
		columns = append(columns, list...)
	}
	if first > 0 && len(columns) > len(s.columns) { // an UPDATE takes some to find its rows, and all in its table of arrays
		s.columns = columns
	}
	join := func(with string, part func(i int, c Column) string) string {
		var parts []string
		for i, c := range columns {
			if p := part(i, c); p != "" {
				parts = append(parts, p)
			}
		}
		return strings.Join(parts, with)
	}
	value := func(i int, c Column) string { return s.shape.value(first+i, c) }
	var out string
	switch verb {
	case "columns":
		out = join(", ", func(_ int, c Column) string { return of(as, c.Name) })
	case "params":
		out = join(", ", func(i int, _ Column) string { return fmt.Sprintf("$%d", first+i) })
	case "set":
		out = join(", ", func(i int, c Column) string { return fmt.Sprintf("%s = $%d", c.Name, first+i) })
	case "values":
		out = join(", ", value)
	case "match":
		if n := s.shape.keys(); n > 0 {
			out = matchKeys(as, columns, first, n)
			break
		}
		out = join(" AND ", func(i int, c Column) string { return of(as, c.Name) + " = " + value(i, c) })
	case "among": // said again, so that it is an index's to find the rows, whatever is known about the table
		out = join(" AND ", func(i int, c Column) string {
			if s.shape.varies(c) {
				return fmt.Sprintf("%s = ANY ($%d::%s[])", of(as, c.Name), first+i, c.Type)
			}
			return of(as, c.Name) + " = " + value(i, c)
		})
	case "from", "using":
		if s.shape != one && s.shape.keys() == 0 {
			arrays := join(", ", func(i int, c Column) string { return s.shape.array(first+i, c) })
			names := join(", ", func(_ int, c Column) string { return s.shape.arrayName(c) })
			out = fmt.Sprintf("%s unnest(%s) AS k (%s)", strings.ToUpper(verb), arrays, names)
		}
	default:
		return "", fmt.Errorf("unknown directive @%s", verb)
	}
	return out + said[5], nil
}

// matchKeys says which rows, one by one.
func matchKeys(as string, columns []Column, first, n int) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = of(as, c.Name)
	}
	rows := make([]string, n)
	for r := range rows {
		values := make([]string, len(columns))
		for i, c := range columns {
			values[i] = fmt.Sprintf("$%d::%s", first+r*len(columns)+i, c.Type)
		}
		rows[r] = "(" + strings.Join(values, ", ") + ")"
	}
	return "(" + strings.Join(names, ", ") + ") IN (" + strings.Join(rows, ", ") + ")"
}

func of(as, column string) string {
	if as == "" {
		return column
	}
	return as + "." + column
}

// value is a column of the row that is written.
func (s shape) value(param int, c Column) string {
	switch {
	case !s.varies(c):
		return fmt.Sprintf("$%d::%s", param, c.Type)
	case c.Type == "JSONB": // comes as text: there are no arrays of documents
		return "k." + c.Name + "::JSONB"
	default:
		return "k." + c.Name
	}
}

func (s shape) array(param int, c Column) string {
	switch {
	case !s.varies(c):
		return ""
	case c.Type == "JSONB":
		return fmt.Sprintf("$%d::TEXT[]", param)
	default:
		return fmt.Sprintf("$%d::%s[]", param, c.Type)
	}
}

func (s shape) arrayName(c Column) string {
	if s.varies(c) {
		return c.Name
	}
	return ""
}

// byName are the lists of columns.txt. Its lines are `list: column TYPE, column TYPE varies, @other list`; those that are indented go on.
var byName = func() map[string][]Column {
	all := map[string][]Column{}
	var list string
	for line := range strings.Lines(lists) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		if name, rest, begins := strings.Cut(line, ":"); begins {
			list, line = name, strings.TrimSpace(rest)
		}
		for part := range strings.SplitSeq(strings.TrimSuffix(line, ","), ", ") {
			if other, is := strings.CutPrefix(part, "@"); is {
				all[list] = append(all[list], all[other]...)
				continue
			}
			words := strings.Fields(part)
			all[list] = append(all[list], Column{Name: words[0], Type: words[1], varies: slices.Contains(words, "varies")})
		}
	}
	return all
}()
