package patch

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// operation is one JSON patch operation.
type operation map[string]any

// operations form one request.
type operations []operation

const (
	metadataField = "metadata"
	statusField   = "status"
)

func test(path string, value any) operation {
	return operation{"op": "test", "path": path, "value": value}
}

// writable are the metadata fields that a client may change.
var writable = []string{"annotations", "finalizers", "labels", "ownerReferences"}

// metadataAndSpec returns all changes except the status.
func metadataAndSpec(before, after map[string]any) (all operations) {
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch name {
		case "apiVersion", "kind", metadataField, statusField:
		default:
			all.compare("/"+escaped(name), before[name], after[name])
		}
	}
	was, is := mapOf(before[metadataField]), mapOf(after[metadataField])
	for _, name := range writable {
		all.compare("/"+metadataField+"/"+name, was[name], is[name])
	}
	if listLength(is["finalizers"]) > listLength(was["finalizers"]) { // the API server accepts no finalizer during a deletion
		all = append(operations{test("/metadata/deletionTimestamp", nil)}, all...)
	}
	return all
}

// status returns the status changes.
func status(before, after map[string]any) (all operations) {
	all.compare("/"+statusField, before[statusField], after[statusField])
	return all
}

// unchanged tests that a field has the value that was read. A field that was absent must be absent.
func unchanged(before map[string]any, path []string) operation {
	var at string
	var value any = before
	for _, name := range path {
		at, value = at+"/"+escaped(name), mapOf(value)[name]
		if value == nil {
			break
		}
	}
	return test(at, value)
}

// compare adds the operations that change the value at a path from before to after. A nil value means that the field is absent.
func (o *operations) compare(path string, before, after any) {
	if reflect.DeepEqual(before, after) {
		return
	}
	was, isMap := before.(map[string]any)
	if is, both := after.(map[string]any); isMap && both {
		names := maps.Clone(was)
		maps.Copy(names, is)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			o.compare(path+"/"+escaped(name), was[name], is[name])
		}
		return
	}
	if merged, ok := entries(path, before, after); ok {
		*o = append(*o, merged...)
		return
	}
	if !strings.HasSuffix(path, "/lastTransitionTime") { // this time changes with the condition's status, and its notation may differ
		*o = append(*o, test(path, before))
	}
	switch {
	case before == nil:
		*o = append(*o, operation{"op": "add", "path": path, "value": after})
	case after == nil:
		*o = append(*o, operation{"op": "remove", "path": path})
	default:
		*o = append(*o, operation{"op": "replace", "path": path, "value": after})
	}
}

// keys has the lists that Patch compares entry by entry. It maps each list to the field that identifies an entry. An empty field means that the entry
// itself is the key.
var keys = map[string]string{"/metadata/finalizers": "", "/metadata/ownerReferences": "uid", "/status/conditions": "type"}

// entries compares two lists by the keys of their entries. The order of the entries has no meaning. It returns false for a list without keys.
func entries(path string, before, after any) (all operations, ok bool) {
	key, keyed := keys[path]
	was, is := byKey(before, key), byKey(after, key)
	if !keyed || len(was) == 0 || len(is) == 0 {
		return nil, false
	}
	own := func(at int) string {
		return strings.TrimSuffix(path+"/"+strconv.Itoa(at)+"/"+key, "/")
	}
	order := slices.SortedFunc(maps.Keys(was), func(a, b string) int { return was[b].at - was[a].at }) // from the end, as a removal moves the later entries
	for _, name := range order {
		at, kept := was[name].at, is[name]
		if kept.value != nil && !reflect.DeepEqual(was[name].value, kept.value) {
			all = append(all, test(own(at), name))
			all.compare(path+"/"+strconv.Itoa(at), was[name].value, kept.value)
		}
	}
	for _, name := range order {
		if at := was[name].at; is[name].value == nil {
			all = append(all, test(own(at), name), operation{"op": "remove", "path": path + "/" + strconv.Itoa(at)})
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(is), func(a, b string) int { return is[a].at - is[b].at }) {
		if was[name].value == nil {
			all = append(all, operation{"op": "add", "path": path + "/-", "value": is[name].value})
		}
	}
	return all, true
}

// entry is a list entry.
type entry struct {
	at    int
	value any
}

// byKey returns the entries of a list by their keys. It returns nil if an entry has no key or two entries have the same key.
func byKey(list any, key string) map[string]entry {
	items, _ := list.([]any)
	all := map[string]entry{}
	for at, item := range items {
		name, ok := item.(string)
		if key != "" {
			name, ok = mapOf(item)[key].(string)
		}
		if _, twice := all[name]; !ok || twice {
			return nil
		}
		all[name] = entry{at: at, value: item}
	}
	return all
}

func mapOf(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func listLength(value any) int {
	list, _ := value.([]any)
	return len(list)
}

// escaped escapes a name for a JSON pointer.
func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
