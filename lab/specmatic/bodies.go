package specmatic

import (
	"slices"
	"strings"
)

// dropped are members of requests that a test takes for free to be there or not, and that are not: by the schema that they are in.
var dropped = map[string][]string{
	"CreateMetadata": {"generateName"},
	"PutMetadata":    {"name"},
	"IPPoolSpec":     {"parentRef", "prefixLength", "classNames", "regions", "reservations"},
	"IPClassSpec":    {"poolPer", "poolPrefixLength", "emptyPoolTTL", "allowedPrefixLengths"},
	"IPClaimSpec":    {"className", "scope", "poolSelector", "allocationRef", "cidr", "address"},
	"QuotaSpec":      {"scope"},
	"IPPoolPatch":    {"reservations", "classNames", "regions"},
	"IPClassPatch":   {"allowedPrefixLengths", "emptyPoolTTL"},
}

// needed are members without which what is left would be refused.
var needed = map[string][]string{
	"CreateMetadata": {"name"}, "IPPoolSpec": {"cidr"}, "QuotaLimits": {"claims"},
}

// leaves are schemas whose patterns admit more than there is, with some of what there is.
func leaves() obj {
	name := obj{"type": "object", "additionalProperties": false, "required": []any{"name"}, "properties": obj{"name": oneOf("lab")}}
	return obj{
		"CIDR": oneOf("10.50.0.0/16"), "Address": oneOf("10.20.0.1"), "Duration": oneOf("0s", "72h", "1h30m"), "Time": oneOf("2099-03-03T12:00:00Z"),
		"Count": oneOf("0", "65536"), "RefFilter": oneOf("lab", "team-a/lab"), "Ref": name,
		"Labels":      obj{"type": "object", "additionalProperties": false, "properties": obj{"env": oneOf("prod", "")}},
		"Annotations": obj{"type": "object", "additionalProperties": false, "properties": obj{"note": obj{"type": "string", "maxLength": 4096}}},
	}
}

// members are schemas of members by their names, wherever they are in a request.
func members() obj {
	length := func(low, high int) obj { return obj{"type": "integer", "minimum": low, "maximum": high} }
	return obj{
		"region": oneOf("local"), "isDefault": obj{"type": "boolean", "enum": []any{false}},
		"minPrefixLength": length(16, 20), "maxPrefixLength": length(30, 32), "defaultPrefixLength": length(24, 28), "prefixLength": length(26, 32), "ipFamily": oneOf("IPv4"),
		"expiresAt": oneOf("2099-03-03T12:00:00Z"), "reuseAfter": oneOf("0s", "72h"),
	}
}

// bodies replaces the schemas of all requests by copies that are adapted; those of answers are others.
func (a *adaption) bodies() {
	for _, name := range []string{
		"ProjectCreate", "SpaceCreate", "IPPoolCreate", "IPClassCreate", "IPClaimCreate", "IPClaimPut", "ClaimBatchCreate", "ClaimExplanationRequest",
		"MemberPut", "ApiKeyCreate", "QuotaPut", "ProjectPatch", "SpacePatch", "IPPoolPatch", "IPClassPatch", "IPClaimPatch",
	} {
		a.schemas[name] = a.inline(name, at(a.schemas, name))
	}
	// It makes items of a list alike, and no two claims of a batch have the same name.
	metadata := at(a.schemas, "ClaimBatchCreate", "properties", "claims", "items", "properties", "metadata")
	metadata["required"] = []any{"generateName"}
	delete(at(metadata, "properties"), "name")
	at(metadata, "properties")["generateName"] = oneOf("m-")
}

// inline is a schema with all that it refers to, adapted. name is the one that it has, or that of what it is in.
func (a *adaption) inline(name string, s obj) obj {
	if ref, ok := s["$ref"].(string); ok {
		name = ref[strings.LastIndex(ref, "/")+1:]
		if leaf, ok := leaves()[name].(obj); ok {
			return leaf
		}
		return a.inline(name, at(a.schemas, name))
	}
	if all, ok := s["allOf"].([]any); ok && len(all) == 1 {
		return a.inline(name, all[0].(obj)) //nolint:errcheck,forcetypeassert // of our own contract
	}
	out := copied(s).(obj) //nolint:errcheck,forcetypeassert // a copy is what it was
	delete(out, "example")
	if out["additionalProperties"] == true { // of patches: what else there is, is refused by another code
		delete(out, "additionalProperties")
	}
	if pattern, ok := out["pattern"].(string); ok && strings.Contains(pattern, `\x`) {
		out["pattern"] = "^[a-zA-Z0-9 ]*$"
	}
	if enum, ok := out["enum"].([]any); ok { // what only the platform may say
		out["enum"] = slices.DeleteFunc(enum, func(v any) bool { return v == "platform" || v == "shared" })
	}
	if items, ok := out["items"].(obj); ok {
		out["items"] = a.inline(name, items)
	}
	if free, ok := out["additionalProperties"].(obj); ok {
		out["additionalProperties"] = a.inline(name, free)
	}
	properties, _ := out["properties"].(obj)
	for member, each := range properties {
		if slices.Contains(dropped[name], member) {
			delete(properties, member)
			continue
		}
		if by, ok := members()[member].(obj); ok {
			if was, ok := each.(obj); ok && was["nullable"] == true {
				by["nullable"] = true
				if enum, ok := by["enum"].([]any); ok {
					by["enum"] = append(enum, nil)
				}
			}
			properties[member] = by
			continue
		}
		properties[member] = a.inline(name, each.(obj)) //nolint:errcheck,forcetypeassert // of our own contract
	}
	for _, member := range needed[name] {
		out["required"] = []any{member}
	}
	return out
}

// parameters gives those of the query values that are.
func (a *adaption) parameters() {
	a.queries = obj{
		"within": oneOf("10.0.0.0/8"), "contains": oneOf("10.20.0.1"), "address": oneOf("10.20.0.1"), "at": oneOf("2026-03-03T12:00:00Z"),
		"since": oneOf("2026-03-03T12:00:00Z"), "until": oneOf("2026-03-03T12:00:00Z"),
		"prefixLength": obj{"type": "integer", "minimum": 16, "maximum": 32},
	}
}
