package plan

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// ofServer lists the metadata that the server sets.
var ofServer = []string{"uid", "project", "region", "generation", "revision", "createdAt", "updatedAt", "createdBy"}

// flatten rewrites API resources in a plan to the plan's own form: their metadata and spec move up. `get -o yaml` writes such resources. flatten
// drops the status, and the metadata that the server or an earlier apply wrote. It reports whether it found a resource.
func (f *planFaults) flatten(whole object) (found bool) {
	if project, is := whole["project"].(object); is {
		found = f.flattenOne("project", project, "")
	}
	for _, name := range []string{"spaces", "classes", "pools", "claims"} {
		found = f.flattenList(name, whole[name], "") || found
	}
	return found
}

// flattenList rewrites a list's resources, and the lists below them. parent is the pool around the list.
func (f *planFaults) flattenList(at string, list any, parent string) (found bool) {
	items, _ := list.([]any)
	for i, item := range items {
		doc, is := item.(object)
		if !is {
			continue
		}
		here := at + "[" + strconv.Itoa(i) + "]"
		found = f.flattenOne(here, doc, parent) || found
		name, _ := doc["name"].(string)
		for _, below := range []string{"pools", "claims"} {
			found = f.flattenList(within(here, below), doc[below], name) || found
		}
	}
	return found
}

// isResource reports whether a document has the API's form.
func isResource(doc object) bool { return doc["metadata"] != nil || doc["spec"] != nil }

// flattenOne rewrites one resource.
func (f *planFaults) flattenOne(at string, doc object, parent string) bool {
	if !isResource(doc) {
		return false
	}
	metadata, spec := member(doc, "metadata"), member(doc, "spec")
	for _, name := range []string{"metadata", "spec", "status"} {
		delete(doc, name)
	}
	project := text(metadata["project"])
	for _, name := range ofServer {
		delete(metadata, name)
	}
	delete(member(metadata, "labels"), labelOfPlan)
	delete(member(metadata, "annotations"), annotationFields)
	f.dropReferences(at, spec, project, parent)
	for _, from := range []object{metadata, spec} {
		for name, value := range show.Sorted(from) {
			if _, twice := doc[name]; twice {
				f.add(within(at, name), "is given twice")
			}
			doc[name] = value
		}
	}
	return true
}

// dropReferences removes the references to the pool around a resource, because its position in the plan names that pool. It writes the reference to a
// space as a plan does.
func (f *planFaults) dropReferences(at string, spec object, project, parent string) {
	if space := refText(spec, "spaceRef", project); space != "" {
		delete(spec, "spaceRef")
		spec["space"] = space
	}
	if named := refText(spec, "parentRef", project); named != "" {
		delete(spec, "parentRef")
		if named != parent {
			f.add(within(at, "parentRef"), "is pool %s: in a plan, a child pool is in the list `pools` of its parent, so move it there", named)
		}
	}
	if parent != "" && refText(spec, "poolRef", project) == parent {
		delete(spec, "poolRef")
	}
	if spec["drain"] == "Keep" { // the default
		delete(spec, "drain")
	}
}

// BatchOf returns a claim batch in the API's form. It accepts claims in a plan's form too, such as {name: web, pool: prod, prefixLength: 24}. It
// leaves other documents to the server. Messages name the file by its path.
func BatchOf(path string, doc json.RawMessage) (json.RawMessage, error) {
	whole, err := decoded(doc)
	if err != nil {
		return doc, nil //nolint:nilerr // the server refuses the document, and names the place
	}
	batch, _ := whole.(object)
	claims, _ := batch["claims"].([]any)
	var faults planFaults
	seen, changed := map[string]bool{}, false
	for i, item := range claims {
		claim, is := item.(object)
		if !is || isResource(claim) {
			continue
		}
		at := "claims[" + strconv.Itoa(i) + "]"
		before := len(faults)
		if faults.shape(at, item, reflect.TypeFor[planClaim]()); len(faults) > before {
			continue
		}
		var c planClaim
		text, err := show.Marshal(item)
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		if err != nil {
			return nil, err
		}
		faults.claim(at, c, "", seen)
		claims[i], changed = c.create(""), true
	}
	switch {
	case len(faults) > 0:
		return nil, faults.in(planFiles{{path: path}})
	case !changed:
		return doc, nil
	}
	return show.Marshal(whole)
}
