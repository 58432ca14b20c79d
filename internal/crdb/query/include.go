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

// Column is a column from columns.txt, with its type.
type Column struct {
	Name, Type string
	varies     bool // one transaction's rows usually have different values in this column
}

// shape is a statement's form for a certain number of rows. PostgreSQL builds a table from each array argument, which costs more than inserting a
// row. So the form for one row (one) takes plain values. If several rows have equal values in some columns, the form alike takes arrays only for the
// columns that vary.
type shape string

const (
	many  shape = "many"
	alike shape = "alike"
	one   shape = "one"
)

// keyed contains the shapes that list 2, 8 or 32 row keys. If there are fewer rows, the caller repeats the last key.
var keyed = []shape{"keys2", "keys8", "keys32"}

// MostKeys is the largest number of keys that a statement can list.
const MostKeys = 32

// keys returns the number of keys that the shape lists: 0 if it takes arrays or one row.
func (s shape) keys() int {
	count, is := strings.CutPrefix(string(s), "keys")
	if !is {
		return 0
	}
	n, _ := strconv.Atoi(count) // cannot fail: each name in keyed ends with a number
	return n
}

// varies reports whether the shape takes an array for a column.
func (s shape) varies(c Column) bool { return s == many || s == alike && c.varies }

// statementName returns a statement's name in this shape.
func (s shape) statementName(name string) string {
	if s == many {
		return name
	}
	return name + "_" + string(s)
}

// checked is the name suffix for a checked form (see checkedText).
const checked = "_sure"

// checkedText returns a statement's checked form. This form divides by zero (SQLSTATE 22012 on both engines) unless the row count equals its last
// argument.
//
// A transaction that is sent together with its COMMIT needs this form. There the program cannot read a result and stop before the COMMIT, so the
// statement itself must fail.
func checkedText(text string) string {
	last := parameters(text)
	body := len(text) - len(strings.TrimLeft(text, "\n"))
	for line := range strings.Lines(text[body:]) {
		if !strings.HasPrefix(line, "--") {
			break
		}
		body += len(line)
	}
	remarks, statement := text[:body], returningRows(strings.TrimRight(text[body:], "\n"))
	return remarks + strings.NewReplacer("{{statement}}", statement, "{{want}}", fmt.Sprintf("$%d", last+1)).Replace(checkedForm)
}

// parameters returns the number of arguments that a statement takes.
func parameters(text string) (last int) {
	for _, p := range parameter.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(p[1])
		last = max(last, n)
	}
	return last
}

// returningRows returns a form of the statement that returns one row for each changed row. The surrounding statement counts these rows.
func returningRows(statement string) string {
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

// Expand returns a file's statements by name, with their header comments. It replaces each line that begins with `-- @` by a column list from
// columns.txt:
//
//	-- @columns pool AS p        p.id, p.project_id, …
//	-- @params pool FROM $1      $1, $2, …
//	-- @set pool_rule FROM $3    visibility = $3, strategy = $4, …
//
// The comment `-- shapes: sure` adds the checked form, such as hold_update_sure (see checkedText). A statement for many rows may add the forms
// hold_insert_alike and hold_insert_one, with the comment `-- shapes: alike, one`. Such a statement may contain these lines:
//
//	-- @values held_row FROM $2       k.project_id, k.container_id, …
//	-- @from held_row FROM $2         FROM unnest($2::UUID[], $3::UUID[], …) AS k (project_id, container_id, …)
//	-- @using held_key FROM $2        USING unnest(…) AS k (…)
//	-- @match held_key AS h FROM $2   h.id = k.id AND h.revision = k.revision
//	-- @among fence_id AS f FROM $2   f.id = ANY ($2::UUID[])
//
// The comment `-- shapes: keys` adds the forms free_delete_keys2, _keys8 and _keys32, which list their rows' keys. The plan for such a form reads
// only these rows. With arrays, CockroachDB may scan the whole table if its statistics describe the table as short. That scan also reads the rows
// that were deleted in the last hours. In these forms, two lines have another expansion:
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

// statement is an SQL text. Its last arguments are column values.
type statement struct {
	text    string // in the variable statements: without the header comments
	remarks string // with the header comments
	columns []Column
	shape   shape
	shapes  []shape // all shapes in which the statement exists
}

func expand(name, text string) (map[string]statement, error) {
	shapes, surely := []shape{many}, false
	if match := shapesLine.FindStringSubmatch(text); match != nil {
		for s := range strings.SplitSeq(match[1], ", ") {
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
		all[s.statementName(name)] = made
		if surely {
			made.text = checkedText(made.text)
			all[s.statementName(name)+checked] = made
		}
	}
	return all, nil
}

// include expands a line that begins with `-- @`.
func (s *statement) include(line string) (string, error) {
	match := directive.FindStringSubmatch(line)
	if match == nil {
		return "", fmt.Errorf("%q is not a known line", line)
	}
	verb, as, first := match[1], match[3], 0
	if match[4] != "" {
		first, _ = strconv.Atoi(match[4])
	}
	var columns []Column
	for name := range strings.SplitSeq(match[2], ", ") {
		list, known := byName[name]
		if !known {
			return "", fmt.Errorf("unknown list %q", name)
		}
		columns = append(columns, list...)
	}
	if first > 0 && len(columns) > len(s.columns) { // an UPDATE has several such lines; the line with the most columns has the arrays
		s.columns = columns
	}
	join := func(with string, part func(i int, c Column) string) string {
		var parts []string
		for i, c := range columns {
			parts = append(parts, part(i, c))
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
	case "among": // the join has this condition, too; repeated here, it makes the planner use the index with any statistics
		out = join(" AND ", func(i int, c Column) string {
			if s.shape.varies(c) {
				return fmt.Sprintf("%s = ANY ($%d::%s[])", of(as, c.Name), first+i, c.Type)
			}
			return of(as, c.Name) + " = " + value(i, c)
		})
	case "from", "using":
		if s.shape != one && s.shape.keys() == 0 {
			var arrays, names []string
			for i, c := range columns {
				if !s.shape.varies(c) {
					continue
				}
				element := c.Type
				if element == "JSONB" { // passed as text, because no array type for documents exists
					element = "TEXT"
				}
				arrays, names = append(arrays, fmt.Sprintf("$%d::%s[]", first+i, element)), append(names, c.Name)
			}
			out = fmt.Sprintf("%s unnest(%s) AS k (%s)", strings.ToUpper(verb), strings.Join(arrays, ", "), strings.Join(names, ", "))
		}
	default:
		return "", fmt.Errorf("unknown directive @%s", verb)
	}
	return out + match[5], nil
}

// matchKeys returns the condition that lists n row keys.
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

// value returns the expression for a column's value.
func (s shape) value(param int, c Column) string {
	switch {
	case !s.varies(c):
		return fmt.Sprintf("$%d::%s", param, c.Type)
	case c.Type == "JSONB":
		return "k." + c.Name + "::JSONB"
	default:
		return "k." + c.Name
	}
}

// byName contains the lists in columns.txt. Each line has the form `list: column TYPE, column TYPE varies, @other list`. An indented line continues
// the list.
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
