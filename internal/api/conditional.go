package api

import (
	"strings"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
)

const headerIfMatch = "If-Match"

// etag is the entity tag of a revision.
func etag(revision ipam.ID) string { return quote(revision.String()) }

// requiredMatch reads If-Match of a patch, which must not go without: two callers who both read would overwrite each other.
func requiredMatch(header *string) (alloc.Match, error) {
	if header == nil {
		return alloc.Match{}, ipam.Errorf(ipam.CodePreconditionRequired,
			"A patch needs If-Match with the ETag that it is based on. Read the resource first, or send * to patch whatever is there.").
			At("header:If-Match", "is required.")
	}
	return parseMatch(header)
}

// parseMatch reads an If-Match header (RFC 9110, section 13.1.1): * or a list of entity tags. nil demands nothing.
//
// The comparison is strong, so a weak tag matches nothing. It is kept, with its mark, since a precondition that was asked
// for must not vanish.
func parseMatch(header *string) (alloc.Match, error) {
	if header == nil {
		return alloc.Match{}, nil
	}
	rest := strings.TrimSpace(*header)
	if rest == "*" {
		return alloc.Match{Any: true}, nil
	}
	var m alloc.Match
	for {
		tag, after, ok := cutTag(rest)
		if !ok {
			return alloc.Match{}, ipam.Invalid("header:If-Match", "must be an entity tag in double quotes, a list of them, or *.")
		}
		m.Revisions = append(m.Revisions, tag)
		if rest = strings.TrimSpace(after); rest == "" {
			return m, nil
		}
		if rest, ok = strings.CutPrefix(rest, ","); !ok {
			return alloc.Match{}, ipam.Invalid("header:If-Match", "must separate its entity tags by commas.")
		}
		rest = strings.TrimSpace(rest)
	}
}

// cutTag takes one entity tag off the front: without its quotes, or with its mark and quotes if it is weak.
func cutTag(s string) (tag, rest string, ok bool) {
	opaque, weak := strings.CutPrefix(s, "W/")
	opaque, ok = strings.CutPrefix(opaque, `"`)
	if !ok {
		return "", "", false
	}
	opaque, rest, ok = strings.Cut(opaque, `"`)
	if weak {
		opaque = `W/"` + opaque + `"`
	}
	return opaque, rest, ok
}

// deletion is the request part of a DELETE.
func deletion(ifMatch *string, dryRun *bool) (alloc.Request, error) {
	match, err := parseMatch(ifMatch)
	return alloc.Request{IfMatch: match, DryRun: or(dryRun, false)}, err
}
