package e2e

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// words are strings for random fields. Each is valid in some field, or in none.
var words = []string{
	"", "x", "prod-eu", "prod-eu-k8s", "web-eu", "team-a", "team-idle", "platform", "default", "standard", "per-cluster", "web", "common", "lab", "idle", "nobody", "node-", "team-a/prod-eu",
	"10.20.0.0/16", "10.20.1.0/24", "10.20.32.0/19", "10.21.0.0/16", "10.0.0.0/8", "0.0.0.0/0", "::/0", "2001:db8:20::/48", "10.20.0.17", "10.20.1.1", "2001:db8:20::1",
	"10.20.0.1/16", "255.255.255.255/32", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
	"IPv4", "IPv6", "FirstFit", "BestFit", "Random", "Sparse", "Delete", "Retain", "In", "NotIn", "Exists", "DoesNotExist", "shared", "consumer",
	"Bound", "Retained", "CoolingDown", "LeastUtilized", "native", "0s", "1s", "24h", "8760h", "8761h", "1h30m", "1.5h", "-1s", "9999999999h", "Ready", "Exhausted", "Claim", "ChildPool", "Reservation", "true", "false", "1", "500", "501", "-1", "32", "128",
	"env=prod", "env in (prod,test),!x", "a,,b", "e30", "eyJrIjoicG9vbHMiLCJhIjoiYSJ9", "eyJrIjoiYWxsb2NhdGlvbnMiLCJhIjp7fX0",
	"00000000-0000-4000-8000-000000000000", "é", "\u0000", "a\u0000", "\u007f", "\u202e", "😀", "\\", `"`, "'", "; DROP TABLE claims; --", "%00", "../..", "null",
	strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("é", 600), strings.Repeat("x", 5000),
}

func (f *fuzzer) word() string { return pick(f, words) }

// scalar returns a JSON value that is neither an object nor an array.
func (f *fuzzer) scalar() any {
	switch f.IntN(10) {
	case 0:
		return nil
	case 1:
		return f.IntN(2) == 0
	case 2, 3, 4:
		return pick(f, []any{0, 1, -1, 8, 16, 18, 20, 24, 26, 28, 31, 32, 33, 48, 64, 127, 128, 129, 65536, 65537, 1 << 31, -1 << 63, 1.5, 1e10, json.Number("1e400"), json.Number("18446744073709551616")})
	default:
		return f.word()
	}
}

// names are names of members of the contract's objects.
var names = []string{
	"metadata", "spec", "status", "name", "generateName", "labels", "annotations", "cidr", "address", "prefixLength", "poolRef", "parentRef", "spaceRef", "poolSelector",
	"allocationRef", "matchLabels", "matchExpressions", "key", "operator", "values", "ipFamily", "reclaimPolicy", "ownerRef", "kind", "uid", "project", "allocation", "strategy",
	"minPrefixLength", "maxPrefixLength", "defaultPrefixLength", "reservations", "first", "last", "from", "to", "reason", "description", "displayName", "visibility", "claims",
	"className", "classNames", "classRef", "scope", "cluster", "reuseAfter", "poolPer", "poolPrefixLength", "emptyPoolTTL", "poolSelection", "isDefault", "allowedPrefixLengths",
	"min", "max", "provisioner", "parameters", "revision", "generation", "createdAt", "createdBy", "phase", "allocatedCIDR", "region", "Name", "SPEC", "x",
}

// any returns a random JSON value with at most the given depth.
func (f *fuzzer) any(depth int) any {
	switch n := f.IntN(6); {
	case depth > 0 && n == 0:
		var out []any
		for range f.IntN(4) {
			out = append(out, f.any(depth-1))
		}
		return out
	case depth > 0 && n == 1:
		out := obj{}
		for range f.IntN(4) {
			out[pick(f, names)] = f.any(depth - 1)
		}
		return out
	default:
		return f.scalar()
	}
}

// mutate changes one part of a value.
func (f *fuzzer) mutate(v any) any {
	switch v := v.(type) {
	case obj:
		if len(v) == 0 || f.IntN(8) == 0 {
			v[pick(f, names)] = f.any(2)
			return v
		}
		name := pick(f, slices.Sorted(maps.Keys(v)))
		switch f.IntN(8) {
		case 0:
			delete(v, name)
		case 1:
			v[pick(f, names)] = v[name]
		default:
			v[name] = f.mutate(v[name])
		}
		return v
	case []any:
		switch {
		case len(v) == 0 || f.IntN(6) == 0:
			return append(v, f.any(2))
		case f.IntN(6) == 0:
			return append(v, v[f.IntN(len(v))])
		default:
			i := f.IntN(len(v))
			v[i] = f.mutate(v[i])
			return v
		}
	default:
		return f.any(2)
	}
}

func marshal(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		return []byte("1e999") // the only one of these values that Go cannot encode
	}
	return raw
}

// garble changes random bytes of a text.
func (f *fuzzer) garble(text []byte) []byte {
	out := slices.Clone(text)
	for range 1 + f.IntN(4) {
		if len(out) == 0 {
			break
		}
		i := f.IntN(len(out))
		switch f.IntN(5) {
		case 0:
			out[i] = byte(f.IntN(256))
		case 1:
			out = out[:i]
		case 2:
			out = slices.Insert(out, i, []byte(pick(f, []string{"{", "}", "[", "]", ",", ":", `"`, `\u0000`, `\ud800`, "\x00", "\xff", "1", "-", "e", "null", "//"}))...)
		case 3:
			out = append(out, out[i:]...)
		default:
			out = slices.Delete(out, i, min(i+1+f.IntN(8), len(out)))
		}
	}
	return out
}
