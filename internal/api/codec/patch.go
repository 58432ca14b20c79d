package codec

import (
	"encoding/json"
	"errors"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	jsonv2 "github.com/go-json-experiment/json"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The fields that a patch may change, as JSON pointers into the resource. All other fields must keep their values.
var (
	writableMeta = []string{"/metadata/labels", "/metadata/annotations"}
	writableText = append([]string{"/spec"}, writableMeta...) // projects and spaces
	writablePool = append([]string{
		"/spec/visibility", "/spec/allocation", "/spec/reservations", "/spec/classNames", "/spec/reuseAfter", "/spec/regions",
		"/spec/description", "/spec/drain",
	}, writableMeta...)
	writableClass = append([]string{ // all but provisioner, ipFamily, uniqueWithin, poolPer and poolPrefixLength
		"/spec/visibility", "/spec/isDefault", "/spec/strategy", "/spec/allowedPrefixLengths", "/spec/defaultPrefixLength", "/spec/reclaimPolicy",
		"/spec/reuseAfter", "/spec/reuseAfterLost", "/spec/poolSelection", "/spec/emptyPoolTTL", "/spec/parameters", "/spec/description",
	}, writableMeta...)
	writableAlertRule = append([]string{ // all but about
		"/spec/percent", "/spec/runway", "/spec/resourceName", "/spec/className", "/spec/labelSelector",
	}, writableMeta...)
	writableClaim = append([]string{"/spec/reclaimPolicy"}, writableMeta...)
)

// applyPatch applies a merge patch (RFC 7396) to a resource in its wire form and returns the result. The result differs from current only in writable
// fields. A client may read the whole resource, edit it and send it back, so a patch may contain the current values of fields that are not writable.
//
// applyPatch returns invalid_argument for an unknown field or a wrong type, and immutable_field if the patch changes a field that is not writable.
// The functions in clearVolatile remove values that change all the time, so that applyPatch does not compare them. A use case may call applyPatch
// several times.
func applyPatch[W any](current W, patch []byte, writable []string, clearVolatile ...func(*W)) (W, error) {
	var next W
	for _, reset := range clearVolatile {
		reset(&current)
	}
	before, err := json.Marshal(current)
	if err != nil {
		return next, notPatchable(err)
	}
	// If a patch sets an unknown field to null, the merge removes the field. A check of the result would not find it.
	var named W
	if err := jsonv2.Unmarshal(patch, &named, jsonv2.RejectUnknownMembers(true)); errors.Is(err, jsonv2.ErrUnknownName) {
		return next, wrongField(err)
	}
	merged, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return next, notPatchable(err)
	}
	// encoding/json would accept {"Visibility": …} for visibility, and would not report the wrong case.
	if err := jsonv2.Unmarshal(merged, &next, jsonv2.RejectUnknownMembers(true)); err != nil {
		return next, wrongField(err)
	}
	for _, reset := range clearVolatile {
		reset(&next)
	}
	after, err := json.Marshal(next)
	if err != nil {
		return next, notPatchable(err)
	}
	changed, err := differences(before, after)
	if err != nil {
		return next, notPatchable(err)
	}
	return next, checkImmutable(changed, writable)
}

// Mentions reports whether a patch has a member at its top level.
func Mentions(patch []byte, member string) bool {
	var top map[string]json.RawMessage
	if json.Unmarshal(patch, &top) != nil {
		return false
	}
	_, ok := top[member]
	return ok
}

// notPatchable returns an internal error. It reports a bug, because the caller has already checked both documents.
func notPatchable(cause error) error {
	return ipam.Errorf(ipam.CodeInternal, "The patch cannot be applied.").WithCause(cause)
}

// wrongField returns an error that points to the field that does not fit the resource.
func wrongField(err error) error {
	e, ok := errors.AsType[*jsonv2.SemanticError](err)
	if !ok {
		return notPatchable(err)
	}
	pointer := string(e.JSONPointer)
	if errors.Is(err, jsonv2.ErrUnknownName) {
		return refuse.At(pointer, "is not a field of this resource.")
	}
	return refuse.At(pointer, "is of the wrong type.")
}

// checkImmutable returns an error if a changed field is not writable.
func checkImmutable(changed, writable []string) error {
	var fields []ipam.Field
	for _, pointer := range changed {
		if !isUnder(pointer, writable) {
			fields = append(fields, ipam.Field{Pointer: refuse.Clip(pointer), Detail: immutableSentence(pointer)})
		}
	}
	if len(fields) == 0 {
		return nil
	}
	message := "The patch is refused: " + fields[0].Pointer + " " + fields[0].Detail
	if len(fields) > 1 {
		message += " More fields are wrong; see errors."
	}
	e := ipam.Errorf(ipam.CodeImmutableField, "%s", message)
	e.Fields = fields[:min(len(fields), refuse.MaxFields)]
	return e
}

func immutableSentence(pointer string) string {
	if strings.HasPrefix(pointer, "/spec") {
		return "never changes; leave it out or send it unchanged."
	}
	return "is set by the server; leave it out or send it unchanged."
}

func isUnder(pointer string, places []string) bool {
	for _, p := range places {
		if pointer == p || strings.HasPrefix(pointer, p+"/") {
			return true
		}
	}
	return false
}
