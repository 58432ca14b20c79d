package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// fromConsole reports whether a table was exported by the web console.
func (t *table) fromConsole() bool {
	return t.has("kind") && t.has("cidr") && t.has("pool") && t.has("visibility")
}

// consoleRow reads a row from the console's export. console/src/pages/transfer-rows.ts writes these rows.
func consoleRow(r row) Record {
	out := Record{ID: r.id, Kind: Kind(strings.ToLower(r.get("kind"))), Name: r.get("name")}
	out.Own = &Own{Space: r.get("space"), Parent: r.get("pool"), Labels: pairsOf(r.get("labels")), Annotations: map[string]string{}}
	out.Fields.Set("description", r.fields.raw("description"))
	switch block := r.get("cidr"); {
	case out.Kind != Pool && out.Kind != Claim:
		out.Kind, out.Problem = Reference, fmt.Sprintf("%q is not a kind of the console's export: use pool or claim", r.get("kind"))
	case block == "" || strings.HasPrefix(block, "/"):
		out.Problem = "it has no block yet: import it in the console"
	case strings.Contains(block, "/"):
		out.network(block)
	default: // the console shows an address as a block with one address
		out.host(block)
	}
	spec := map[string]string{}
	if visibility := r.get("visibility"); visibility != "" && visibility != "consumer" { // consumer is the default
		spec["visibility"] = visibility
	}
	// An import cannot keep some classes. A pool that was carved for a scope becomes an ordinary pool. Another project's class may have the same name
	// as a class in this project, so claims by such a class keep only their pool.
	if class := r.get("class"); class != "" && r.get("scope") == "" && !strings.Contains(out.Own.Parent, "/") {
		spec["className"] = class
		out.set("class", class)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		out.Problem = err.Error()
	}
	out.Own.Spec = text
	return out
}

// serve adds each claim's class to the claim's pool. In Carve, a class serves claims only from pools that list the class, but the console's tables do
// not have these lists.
func serve(records *Records) {
	pools := map[string]*Own{}
	for _, r := range records.All() {
		if r.Kind == Pool && r.Own != nil {
			pools[r.Name] = r.Own
		}
	}
	for _, r := range records.All() {
		class := r.Fields.Get("class")
		if r.Kind != Claim || r.Own == nil || class == "" {
			continue
		}
		if pool := pools[r.Own.Parent]; pool != nil && !slices.Contains(pool.Serves, class) {
			pool.Serves = append(pool.Serves, class)
		}
	}
}

// pairsOf parses labels in two forms. The console writes them with blanks between them, and also accepts commas.
func pairsOf(text string) map[string]string {
	all := map[string]string{}
	for _, pair := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		key, value, _ := strings.Cut(pair, "=")
		all[key] = value
	}
	return all
}
