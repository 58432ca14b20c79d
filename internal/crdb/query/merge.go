package query

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// merged caches the statements that Merged has built. texts maps a name to its SQL text, and names maps a text to its name.
var merged = struct {
	sync.RWMutex

	texts, names map[string]string
}{texts: map[string]string{}, names: map[string]string{}}

// nameSeparator separates the part names in a merged statement's name.
const nameSeparator = "+"

// Merged combines the named statements into one SQL statement. The database then plans and runs one statement and sends one response. The arguments
// are those for the parts, in the same order. All parts read the same database state, so a statement that MustNotMerge rejects must not be merged.
//
// The result does not contain each part's row count. Therefore each part must fail by itself if it does not find its rows:
//
//   - A SELECT must raise an error.
//   - An UPDATE or DELETE must be in its checked form ("_sure").
//   - An INSERT must add all its rows or fail.
func Merged(names []string) string {
	name := strings.Join(names, nameSeparator)
	merged.RLock()
	text, made := merged.texts[name]
	merged.RUnlock()
	if made {
		return text
	}
	text = merge(names)
	merged.Lock()
	defer merged.Unlock()
	merged.texts[name], merged.names[text] = text, name
	return text
}

// Name returns a statement's name. It returns false for an unknown text. A merged statement's name contains the names of its parts, joined by +.
func Name(text string) (string, bool) {
	if name, known := byText()[text]; known {
		return name, true
	}
	merged.RLock()
	defer merged.RUnlock()
	name, made := merged.names[text]
	return name, made
}

// MergedStatements returns by name all texts that Merged has built so far.
func MergedStatements() map[string]string {
	merged.RLock()
	defer merged.RUnlock()
	return maps.Clone(merged.texts)
}

var byText = sync.OnceValue(func() map[string]string {
	names := make(map[string]string, len(statements))
	for name, s := range statements {
		names[s.text] = name
	}
	return names
})

// merge builds a merged statement. Each part that changes rows becomes a common table expression (WITH). The final SELECT contains the parts that are
// SELECTs. For each part in checked form, it also checks the row count. merge renumbers the parameters.
func merge(names []string) string {
	var tables, looks []string
	taken := 0
	numbered := func(text string, more int) string {
		text = parameter.ReplaceAllStringFunc(text, func(p string) string {
			n, _ := strconv.Atoi(p[1:])
			return fmt.Sprintf("$%d", taken+n)
		})
		taken += more
		return text
	}
	for _, name := range names {
		text, surely := known(strings.TrimSuffix(name, checked)).text, strings.HasSuffix(name, checked)
		n := parameters(text)
		switch table := fmt.Sprintf("part%d", len(tables)); {
		case strings.HasPrefix(text, "SELECT "):
			looks = append(looks, "("+numbered(text, n)+")")
		case surely:
			looks = append(looks, fmt.Sprintf("(SELECT 1 / (count(*) = $%d::INT8)::INT4 FROM %s)", taken+n+1, table))
			tables = append(tables, table+" AS (\n"+returningRows(numbered(text, n+1))+"\n)")
		default:
			tables = append(tables, table+" AS (\n"+returningRows(numbered(text, n))+"\n)")
		}
	}
	if len(looks) == 0 {
		looks = []string{"1"}
	}
	with := ""
	if len(tables) > 0 {
		with = "WITH " + strings.Join(tables, ",\n") + "\n"
	}
	return with + "SELECT " + strings.Join(looks, ",\n")
}

var target = regexp.MustCompile(`^(INSERT INTO|UPDATE|DELETE FROM) (\w+)`)

// MustNotMerge reports whether a statement must not be merged with the others. If another statement changes the same table, the two must not be
// merged, because neither would see the other's changes. Two INSERTs into one table are an exception and may be merged.
func MustNotMerge(name string, others []string) bool {
	of := func(name string) (does, table string) {
		if match := target.FindStringSubmatch(known(strings.TrimSuffix(name, checked)).text); match != nil {
			return match[1], match[2]
		}
		return "", ""
	}
	does, table := of(name)
	if does == "" {
		return false
	}
	for _, other := range others {
		if did, in := of(other); in == table && (does != did || does != "INSERT INTO") {
			return true
		}
	}
	return false
}
