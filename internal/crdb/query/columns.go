package query

import (
	"regexp"
	"strings"
)

// varying names, for statements that insert many rows, the columns in which the rows of one transaction mostly differ. The statement of the name with
// _alike takes arrays of these alone, and every other column as one value for all rows: an array that repeats a value costs what one
// that does not costs.
var varying = map[string][]string{
	"claim_insert":      {"name", "id", "base", "allocation_id", "revision"},
	"allocation_insert": {"base", "id", "holder_name", "revision"},
	"event_insert":      {"id", "remote", "request_id", "name", "before", "after"},
	"history_insert":    {"base", "id", "since", "allocation_id", "holder_name"},
}

var columnList = regexp.MustCompile(`(?s)\)\s+AS k \((.*?)\)`)

// Columns answers, for a statement with an _alike form, which of its columns are arrays there, in order; nil: it has none.
func Columns(name string) []bool { return columns[name] }

var columns = func() map[string][]bool {
	all := map[string][]bool{}
	for name, vary := range varying {
		list := columnList.FindStringSubmatch(statements[name])
		for column := range strings.SplitSeq(list[1], ",") {
			varies := false
			for _, v := range vary {
				varies = varies || strings.TrimSpace(column) == v
			}
			all[name] = append(all[name], varies)
		}
	}
	return all
}()
