package query

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// merged are the statements that Merged has made: their texts by their names, and their names by their texts.
var merged = struct {
	sync.RWMutex

	texts, names map[string]string
}{texts: map[string]string{}, names: map[string]string{}}

// together is between the names of statements that were merged.
const together = "+"

// Merged is one statement that does what some others do, for which it takes the arguments of all, in their order. It is planned, sent and answered once, and all
// its parts see one state of the database: Apart says which cannot be parts of it. It fails unless each part hits what it must: those that look fail by
// themselves, changes are in their sure form, and inserts add as many rows as they are given.
func Merged(names []string) string {
	name := strings.Join(names, together)
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

// Name is the name of a statement that Get or Merged has answered: of a merged one those of its parts, with a + between them.
func Name(text string) (string, bool) {
	if name, known := byText()[text]; known {
		return name, true
	}
	merged.RLock()
	defer merged.RUnlock()
	name, made := merged.names[text]
	return name, made
}

// Made answers the statements that Merged has made so far, by name.
func Made() map[string]string {
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

// merge makes a common table of each statement that changes something, and looks at all of them at once.
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
			tables = append(tables, table+" AS (\n"+answering(numbered(text, n+1))+"\n)")
		default:
			tables = append(tables, table+" AS (\n"+answering(numbered(text, n))+"\n)")
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

// Apart reports whether a statement cannot be merged with some others: one of the two changes rows of a table that the other changes too, so that one would not see
// what the other did. Two that insert are no trouble to each other.
func Apart(name string, others []string) bool {
	of := func(name string) (does, table string) {
		if said := target.FindStringSubmatch(known(strings.TrimSuffix(name, checked)).text); said != nil {
			return said[1], said[2]
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
