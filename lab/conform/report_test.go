package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// report counts requests and responses. It records the mismatches.
type report struct {
	mu       sync.Mutex
	requests int
	byOp     map[string]*tally
	found    []string
}

// tally counts the requests of one operation.
type tally struct {
	kinds, statuses map[string]int
	codes           map[string]bool
	rules           map[string]bool // reasons of refusals that no schema contains, because the schemas allow the request
	done, refused   int
}

func newReport() *report { return &report{byOp: map[string]*tally{}} }

func (t *report) add(r *request, a answer, wrong []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	id := "(none)"
	if r.op != nil {
		id = r.op.id
	}
	of := t.byOp[id]
	if of == nil {
		of = &tally{kinds: map[string]int{}, statuses: map[string]int{}, codes: map[string]bool{}, rules: map[string]bool{}}
		t.byOp[id] = of
	}
	of.kinds[r.kind]++
	of.statuses[fmt.Sprint(a.status)]++
	if a.ok() {
		of.done++
	} else {
		of.refused++
		var p problem
		_ = json.Unmarshal(a.body, &p)
		of.codes[p.Code] = true
		for _, e := range p.Errors {
			if a.status == http.StatusBadRequest && strings.HasPrefix(r.kind, "valid") {
				of.rules[numbers.ReplaceAllString(e.Pointer, "n")+" "+numbers.ReplaceAllString(e.Detail, "n")] = true
			}
		}
	}
	for _, each := range wrong {
		t.keep(r, a, each)
	}
}

func (t *report) wrong(r *request, a answer, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(r, a, what)
}

func (t *report) keep(r *request, a answer, what string) {
	id := "(none)"
	if r.op != nil {
		id = r.op.id
	}
	t.found = append(t.found, fmt.Sprintf("%s: %s\n    %s\n    %d %s", id, what, r, a.status, short(a.body)))
}

func short(text []byte) string {
	if len(text) > 700 {
		return string(text[:700]) + "…"
	}
	return string(text)
}

// print writes a line for each operation. It has the number of requests by kind and the number of responses by status.
func (t *report) print(to io.Writer) {
	for _, id := range sorted(t.byOp) {
		of := t.byOp[id]
		kinds := []string{}
		for _, kind := range sorted(of.kinds) {
			kinds = append(kinds, fmt.Sprintf("%s %d", kind, of.kinds[kind]))
		}
		statuses := []string{}
		for _, status := range sorted(of.statuses) {
			statuses = append(statuses, fmt.Sprintf("%s x %d", status, of.statuses[status]))
		}
		_, _ = fmt.Fprintf(to, "%-18s answered %s\n%19ssent %s\n", id, strings.Join(statuses, ", "), "", strings.Join(kinds, "; "))
		for _, rule := range sorted(of.rules) {
			_, _ = fmt.Fprintf(to, "%19srule %s\n", "", short([]byte(rule)))
		}
		if unseen := of.unseen(id); len(unseen) > 0 {
			_, _ = fmt.Fprintf(to, "%19snever %s\n", "", strings.Join(unseen, ", "))
		}
	}
	_, _ = fmt.Fprintf(to, "%d requests, %d mismatches\n", t.requests, len(t.found))
}

var numbers = regexp.MustCompile(`[0-9]+`)

// unseen returns the declared refusals of an operation that did not occur. It leaves out refusals that need a fault or a limit.
func (of *tally) unseen(id string) (out []string) {
	for _, op := range contract().operations {
		if op.id != id {
			continue
		}
		for status, codes := range op.codes {
			for code := range codes {
				if status < http.StatusInternalServerError && status != http.StatusTooManyRequests && !of.codes[code] {
					out = append(out, code)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// alike returns one mismatch for each operation and kind, with the number of its occurrences.
func (t *report) alike() []string {
	count, first := map[string]int{}, map[string]string{}
	for _, each := range t.found {
		head, _, _ := strings.Cut(each, "\n")
		if i := strings.IndexAny(head, "\"0123456789"); i > 0 {
			head = head[:i]
		}
		if count[head]++; count[head] == 1 {
			first[head] = each
		}
	}
	out := []string{}
	for head, each := range first {
		out = append(out, fmt.Sprintf("%d times: %s", count[head], each))
	}
	slices.Sort(out)
	return out
}
