package provider

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// document is an API object's JSON document.
type document map[string]any

// get returns the value at a JSON pointer. If there is no value, it returns nil.
func (d document) get(pointer string) any {
	var at any = map[string]any(d)
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		m, _ := at.(map[string]any)
		at = m[step]
	}
	return at
}

func (d document) text(pointer string) string {
	s, _ := d.get(pointer).(string)
	return s
}

// set writes a value at a JSON pointer. A nil value removes the member.
func (d document) set(pointer string, v any) {
	steps := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	at := map[string]any(d)
	for _, step := range steps[:len(steps)-1] {
		next, ok := at[step].(map[string]any)
		if !ok {
			if v == nil {
				return
			}
			next = map[string]any{}
			at[step] = next
		}
		at = next
	}
	if last := steps[len(steps)-1]; v == nil {
		delete(at, last)
	} else {
		at[last] = v
	}
}

// copy copies the document and the objects inside it, so that the caller can change them. The copy shares lists with the original.
func (d document) copy() document {
	c := document{}
	for key, v := range d {
		if inner, ok := v.(map[string]any); ok {
			v = map[string]any(document(inner).copy())
		}
		c[key] = v
	}
	return c
}

// toAPI converts an attribute's value to the form that the API uses.
func (f field) toAPI(v any) any {
	switch v := v.(type) {
	case string:
		if !f.ref {
			return v
		}
		if project, name, found := strings.Cut(v, "/"); found {
			return map[string]any{"project": project, "name": name}
		}
		return map[string]any{"name": v}
	case []any:
		return each(v, f.element().toAPI)
	case map[string]any:
		if f.form != object {
			return v
		}
		all := document{}
		for _, inner := range f.fields {
			if w := v[inner.name]; w != nil {
				all.set(inner.inside(), inner.toAPI(w))
			}
		}
		return map[string]any(all)
	default:
		return v
	}
}

// fromAPI converts an API value to the form that the attribute uses.
func (f field) fromAPI(v any) any {
	switch v := v.(type) {
	case float64:
		return int64(v)
	case []any:
		return each(v, f.element().fromAPI)
	case map[string]any:
		switch {
		case f.ref:
			project, _ := v["project"].(string)
			name, _ := v["name"].(string)
			return strings.TrimPrefix(project+"/"+name, "/")
		case f.form == object:
			all := map[string]any{}
			for _, inner := range f.fields {
				all[inner.name] = inner.fromAPI(document(v).get(inner.inside()))
			}
			return all
		}
		return orNil(v)
	default:
		return v
	}
}

// inside returns the attribute's JSON pointer inside its enclosing object.
func (f field) inside() string { return strings.TrimPrefix(f.pointer(), "/spec") }

// found returns the value that a document has for the attribute. If the request did not set the value, it uses the value that the server reports
// elsewhere or that derive computes.
func (f field) found(d document) any {
	v := d.get(f.pointer())
	if v == nil && f.from != "" {
		v = d.get(f.from)
	}
	if v == nil && f.derive != nil {
		v = f.derive(d)
	}
	if v == nil {
		v = f.def
	}
	return f.fromAPI(v)
}

// as reports whether a document already has a value for the attribute. The document may spell the value differently, or may only imply it.
func (f field) as(v any, d document, project string) bool {
	is := f.found(d)
	return f.equal(v, is, project) || is == nil && f.implied != nil && f.equal(v, f.implied(d), project)
}

// equal reports whether two values have the same meaning in a project. A reference without a project refers to an object in that project.
func (f field) equal(a, b any, project string) bool {
	a, b = f.meaning(a, project), f.meaning(b, project)
	return known(a) && known(b) && reflect.DeepEqual(a, b)
}

// meaning normalizes a value and all values inside it:
//
//   - an empty value becomes absent
//   - a reference gets its project
//   - a set is sorted
//   - an address, duration, time or count is written as the server writes it
func (f field) meaning(v any, project string) any {
	switch v := v.(type) {
	case string:
		switch {
		case v == "":
			return nil
		case f.ref && !strings.Contains(v, "/"):
			return project + "/" + v
		case f.same != nil:
			return f.same(v)
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		all := each(v, func(element any) any { return f.element().meaning(element, project) })
		if f.form == textSet {
			slices.SortFunc(all, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return all
	case map[string]any:
		all := v
		if f.form == object {
			all = map[string]any{}
			for _, inner := range f.fields {
				if w := inner.meaning(v[inner.name], project); w != nil {
					all[inner.name] = w
				}
			}
		}
		return orNil(all)
	}
	return v
}
