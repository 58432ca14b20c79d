package usecase

import (
	"maps"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Everything is the filter for a list without a filter. It matches every item.
func Everything[T any](*T) bool { return true }

// CheckNew validates a new object's metadata, as far as the caller sets it. If the server generates the name, m.Name already has it. specErr is the
// error from the check of the spec, or nil.
func CheckNew(m *ipam.Metadata, specErr error) error {
	if !ipam.ValidName(m.Name) {
		return ipam.Invalid("/metadata/name", "must be a DNS label: 1 to 63 of a-z, 0-9 and -, beginning and ending with a letter or digit.")
	}
	return CheckChanged(*m, specErr)
}

// CheckChanged validates a changed object's metadata. specErr is the error from the check of the spec, or nil.
func CheckChanged(m ipam.Metadata, specErr error) error {
	if err := ipam.CheckLabels("/metadata/labels", m.Labels); err != nil {
		return err
	}
	if err := ipam.CheckAnnotations("/metadata/annotations", m.Annotations); err != nil {
		return err
	}
	return specErr
}

// SameMeta compares the metadata that a caller may change. Nil and empty maps are equal.
func SameMeta(a, b ipam.Metadata) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations)
}

// Touch sets the server's fields in changed metadata.
func Touch(next *ipam.Metadata, was ipam.Metadata, specChanged bool, revision ipam.ID, now Timestamp) {
	labels, annotations := next.Labels, next.Annotations
	*next = was
	next.Labels, next.Annotations = labels, annotations
	next.Revision, next.UpdatedAt = revision, now
	if specChanged {
		next.Generation++
	}
}

// Timestamp is a time in UTC in microseconds. The database stores times with this resolution.
type Timestamp = time.Time
