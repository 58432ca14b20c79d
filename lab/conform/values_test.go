package conform

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// obj is a JSON object.
type obj = map[string]any

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// flat replaces an allOf that only adds a description to a schema with that schema.
func flat(s *openapi3.Schema) *openapi3.Schema {
	for len(s.AllOf) == 1 {
		s = s.AllOf[0].Value
	}
	return s
}

// value returns a value that a schema allows. It has optional members or not, values at bounds, and texts of all kinds. It need not be sensible.
func (r random) value(s *openapi3.Schema) any {
	s = flat(s)
	switch {
	case s.Nullable && r.one(8):
		return nil
	case len(s.Enum) > 0:
		return pick(r, s.Enum)
	case s.Type.Is(openapi3.TypeBoolean):
		return r.one(2)
	case s.Type.Is(openapi3.TypeInteger):
		return r.integer(s)
	case s.Type.Is(openapi3.TypeString):
		return r.text(s)
	case s.Type.Is(openapi3.TypeArray):
		return r.array(s)
	default:
		return r.object(s)
	}
}

func (r random) integer(s *openapi3.Schema) any {
	low, high := int64(math.MinInt32), int64(math.MaxInt32)
	if s.Min != nil {
		low = int64(*s.Min)
	}
	if s.Max != nil {
		high = int64(*s.Max)
	}
	switch r.IntN(5) {
	case 0:
		return low
	case 1:
		return high
	default:
		return low + r.Int64N(high-low+1)
	}
}

func (r random) text(s *openapi3.Schema) string {
	if s.Format == "date-time" {
		return r.moment()
	}
	limit := 40
	if s.MaxLength != nil {
		limit = int(*s.MaxLength)
	}
	if s.Pattern == "" {
		return strings.Repeat("x", min(limit, r.IntN(40)))
	}
	return r.matching(s.Pattern, int(s.MinLength), limit)
}

// moment returns a valid time in one of the spellings of RFC 3339.
func (r random) moment() string {
	t := time.Unix(r.Int64N(4e9), r.Int64N(1e9))
	switch r.IntN(4) {
	case 0:
		return t.UTC().Format(time.RFC3339)
	case 1:
		return t.UTC().Format(time.RFC3339Nano)
	case 2:
		return t.In(time.FixedZone("", 60*(r.IntN(1439)-719))).Format(time.RFC3339)
	default:
		return pick(r, []string{"1970-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2024-02-29T00:00:00Z", "2026-03-02T09:30:00.1+14:00"})
	}
}

func (r random) array(s *openapi3.Schema) any {
	n := int(s.MinItems) + r.IntN(4)
	if s.MaxItems != nil {
		limit := int(*s.MaxItems)
		if n = min(n, limit); r.one(10) && limit <= 128 {
			n = limit
		}
	}
	out, seen := []any{}, map[string]bool{}
	for range 4 * n {
		if len(out) == n {
			break
		}
		each := r.value(s.Items.Value)
		if text := string(mustJSON(each)); !s.UniqueItems || !seen[text] {
			seen[text] = true
			out = append(out, each)
		}
	}
	return out
}

func (r random) object(s *openapi3.Schema) any {
	out := obj{}
	for _, name := range sorted(s.Properties) {
		if slices.Contains(s.Required, name) || r.one(2) {
			out[name] = r.value(s.Properties[name].Value)
		}
	}
	if free := s.AdditionalProperties.Schema; free != nil {
		n := r.IntN(4)
		if r.one(10) && s.MaxProps != nil {
			n = int(*s.MaxProps)
		}
		for range n {
			key := r.matching("^([a-z]{1,20}[.][a-z]{2,5}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,20}[A-Za-z0-9])?$", 1, 60)
			if r.one(12) {
				key = pick(r, []string{"", "é", "a b", "__proto__", "a/b/c", strings.Repeat("k", 400)})
			}
			if key == "" {
				key = "k"
			}
			out[key] = r.value(free.Value)
		}
	}
	if len(out) < int(s.MinProps) {
		name := sorted(s.Properties)[0]
		out[name] = r.value(s.Properties[name].Value)
	}
	return out
}

// verbatim is JSON text that a body contains unchanged.
type verbatim = json.RawMessage

func mustJSON(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// copied returns a deep copy.
func copied(v any) any {
	switch v := v.(type) {
	case obj:
		out := obj{}
		for name, each := range v {
			out[name] = copied(each)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, each := range v {
			out[i] = copied(each)
		}
		return out
	default:
		return v
	}
}
