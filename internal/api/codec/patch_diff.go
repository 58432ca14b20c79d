package codec

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// differences returns the pointers at which two JSON documents differ, sorted. It compares objects member by member, and all other values as a whole.
func differences(before, after []byte) ([]string, error) {
	var a, b any
	if err := json.Unmarshal(before, &a); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, &b); err != nil {
		return nil, err
	}
	return diff("", a, b), nil
}

func diff(pointer string, a, b any) []string {
	x, isObject := a.(map[string]any)
	y, both := b.(map[string]any)
	if !isObject || !both {
		if reflect.DeepEqual(a, b) {
			return nil
		}
		return []string{pointer}
	}
	all := maps.Clone(x)
	maps.Copy(all, y)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, diff(pointer+"/"+ipam.EscapePointer(name), x[name], y[name])...)
	}
	return out
}
