package usecase

import (
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Match is an If-Match precondition. The zero Match allows everything.
type Match struct {
	Any       bool     // If-Match: *
	Revisions []string // entity tags without quotes; a weak tag keeps its prefix and quotes, so that it never matches
}

// IsSet reports whether the request has a precondition.
func (m Match) IsSet() bool { return m.Any || len(m.Revisions) > 0 }

// Check compares the precondition with the current revision. If they differ, the refusal contains the current revision.
func (m Match) Check(current ipam.ID) error {
	if !m.IsSet() || m.Any || slices.Contains(m.Revisions, current.String()) {
		return nil
	}
	if i := slices.IndexFunc(m.Revisions, isWeak); i >= 0 {
		e := ipam.Errorf(ipam.CodePreconditionFailed,
			"If-Match has a weak entity tag, which never matches. A compressing proxy may have added W/ to the ETag; send the ETag without W/.")
		e.Figures.CurrentRevision = current.String()
		return e.At("header:If-Match", "has the weak entity tag %s; the current one is %q.", m.Revisions[i], current)
	}
	e := ipam.Errorf(ipam.CodePreconditionFailed,
		"The resource has changed since it was read: If-Match does not name its current revision. Read it again and repeat the change.")
	e.Figures.CurrentRevision = current.String()
	return e.At("header:If-Match", "is not the current entity tag %q.", current)
}

func isWeak(tag string) bool { return strings.HasPrefix(tag, `W/"`) }

// CheckPut checks a PUT's preconditions. If-Match comes first, according to RFC 9110 (13.2.2). found reports whether the object exists. If this PUT
// has created the object itself, the caller must not call CheckPut.
func (r Request) CheckPut(found bool, current ipam.ID) error {
	if !found {
		if !r.IfMatch.IsSet() {
			return nil
		}
		return ipam.Errorf(ipam.CodePreconditionFailed, "The resource does not exist yet. Leave out If-Match to create it.").
			At("header:If-Match", "requires that the resource exists.")
	}
	if err := r.IfMatch.Check(current); err != nil || !r.CreateOnly {
		return err
	}
	e := ipam.Errorf(ipam.CodePreconditionFailed,
		"The resource exists already, but If-None-Match: * requires that it does not exist. If an earlier attempt may have created it, read it, or leave out the header to get the existing resource.")
	e.Figures.CurrentRevision = current.String()
	return e.At("header:If-None-Match", "requires that the resource does not exist.")
}
