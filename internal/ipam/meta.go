package ipam

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Metadata has the fields that all resources have. The caller sets Name, Labels and Annotations. The server sets the other fields.
type Metadata struct {
	Name        string            `json:"name"` // DNS label, 1..63, unique per project and kind, never changes
	UID         ID                `json:"uid"`
	Project     string            `json:"project,omitempty"` // the owning project's name; empty for a Project itself
	Region      string            `json:"region,omitempty"`
	Generation  int64             `json:"generation"` // +1 for every change in spec
	Revision    ID                `json:"revision"`   // the ETag: unique, changes with every write
	CreatedAt   time.Time         `json:"createdAt"`
	UpdatedAt   time.Time         `json:"updatedAt"`
	CreatedBy   string            `json:"createdBy"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`

	// GeneratedFrom is a generated name's prefix. It is set only during the creation, so that the server can generate another name if this one is
	// taken. It is not stored.
	GeneratedFrom string `json:"-"`
	// GeneratedIn is a letter for the region that generates the name. The name contains the letter, so no other region generates the same name. The
	// letter is 0 if the installation has only one region.
	GeneratedIn byte `json:"-"`
}

// Resource is implemented by all types with Metadata.
type Resource interface {
	Sized
	Meta() Metadata
}

// Meta implements Resource.
func (m Metadata) Meta() Metadata { return m }

// Ref returns the resource's reference.
func (m Metadata) Ref() Ref { return Ref{Project: m.Project, Name: m.Name} }

// Creator names the caller that created the resource.
func (m *Metadata) Creator() string { return m.CreatedBy }

// Rename generates another name from the prefix. If the caller chose the name, Rename changes nothing and returns false.
func (m *Metadata) Rename() bool {
	if m.GeneratedFrom == "" {
		return false
	}
	m.Name = GenerateName(m.GeneratedFrom, m.GeneratedIn, NewID())
	return true
}

// Ref names a project's resource.
type Ref struct {
	Project string `json:"project"`
	Name    string `json:"name"`
}

// String returns project/name.
func (r Ref) String() string { return r.Project + "/" + r.Name }

// Limits for names, labels and annotations.
const (
	MaxName            = 63
	MaxGenerateName    = 57 // leaves room for the six generated characters
	MaxLabels          = 64
	MaxLabelValue      = 63
	MaxLabelKeyName    = 63
	MaxLabelKeyPrefix  = 253
	MaxAnnotations     = 64
	MaxAnnotationValue = 4096
	MaxAnnotationBytes = 32 << 10 // limit for all keys and values together, because a page may have 500 resources
)

var (
	nameRE         = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	generateNameRE = regexp.MustCompile(`^[a-z0-9][-a-z0-9]{0,56}$`)
	labelKeyRE     = regexp.MustCompile(`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelValueRE   = regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
)

// ValidLabelKey reports whether s has the form [prefix/]name. The prefix is a DNS subdomain with at most 253 characters. The name has 1 to 63
// characters from [A-Za-z0-9._-], and begins and ends with a letter or digit.
func ValidLabelKey(s string) bool {
	return labelKeyRE.MatchString(s) && strings.IndexByte(s, '/') <= MaxLabelKeyPrefix
}

// ValidName reports whether s is a DNS label (RFC 1123).
func ValidName(s string) bool { return nameRE.MatchString(s) }

// ValidGenerateName reports whether s is a valid prefix for a generated name.
func ValidGenerateName(s string) bool { return generateNameRE.MatchString(s) }

const generated = "bcdfghjklmnpqrstvwxz2456789" // no vowels, to avoid accidental words (like Kubernetes)

// RegionLetter returns the letter that generated names contain for a region. It returns 0 if the region's ordinal exceeds the number of letters.
func RegionLetter(ordinal int) byte {
	if ordinal < 0 || ordinal >= len(generated) {
		return 0
	}
	return generated[ordinal]
}

// GenerateName appends six random characters to a prefix. If region is not 0, it appends the region's letter and eight random characters instead. In
// this case, it truncates the prefix to 54 characters, as Kubernetes does.
func GenerateName(prefix string, region byte, random ID) string {
	b, n := []byte(prefix), 6
	if region != 0 {
		n = 8
		b = append(b[:min(len(b), MaxName-1-n)], region)
	}
	for _, r := range slices.Concat(random[:6], random[9:])[:n] { // the bytes between contain the UUID's version
		b = append(b, generated[int(r)%len(generated)])
	}
	return string(b)
}

// CheckLabels validates labels by Kubernetes' rules. pointer is the JSON pointer to the map.
func CheckLabels(pointer string, labels map[string]string) error {
	if err := checkCount(pointer, len(labels), MaxLabels); err != nil {
		return err
	}
	for key, value := range labels {
		if !ValidLabelKey(key) {
			return Invalid(pointer, "has a key that is not [prefix/]name with a name of 1 to 63 characters from [A-Za-z0-9._-].")
		}
		if !labelValueRE.MatchString(value) {
			return Invalid(pointer+"/"+EscapePointer(key), "must be empty or 1 to 63 characters from [A-Za-z0-9._-], beginning and ending with a letter or digit.")
		}
	}
	return nil
}

// CheckAnnotations validates annotations. The keys are like label keys, and the values are free text. pointer is the JSON pointer to the map.
func CheckAnnotations(pointer string, annotations map[string]string) error {
	if err := checkCount(pointer, len(annotations), MaxAnnotations); err != nil {
		return err
	}
	total := 0
	for key, value := range annotations {
		if total += len(key) + len(value); total > MaxAnnotationBytes {
			return Invalid(pointer, "has more than %d bytes in total.", MaxAnnotationBytes)
		}
		if !ValidLabelKey(key) {
			return Invalid(pointer, "has a key that is not [prefix/]name with a name of 1 to 63 characters from [A-Za-z0-9._-].")
		}
		if err := CheckText(pointer+"/"+EscapePointer(key), value, MaxAnnotationValue, true); err != nil {
			return err
		}
	}
	return nil
}

// CheckText validates free text. The text must be UTF-8, have at most limit bytes, and contain no control characters. For example, the database
// cannot store U+0000. If lines is true, tabs and line ends are allowed.
func CheckText(pointer, s string, limit int, lines bool) error {
	if len(s) > limit {
		return Invalid(pointer, "is %d bytes long; at most %d are allowed.", len(s), limit)
	}
	if !utf8.ValidString(s) {
		return Invalid(pointer, "is not valid UTF-8.")
	}
	for _, r := range s {
		if unicode.IsControl(r) && !(lines && (r == '\n' || r == '\t' || r == '\r')) {
			return Invalid(pointer, "has the control character U+%04X, which is not allowed.", r)
		}
	}
	return nil
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// EscapePointer escapes one token for a JSON pointer (RFC 6901).
func EscapePointer(token string) string { return pointerEscapes.Replace(token) }

// checkCount refuses a list or map with too many entries.
func checkCount(pointer string, entries, most int) error {
	if entries > most {
		return Invalid(pointer, "has %d entries; at most %d are allowed.", entries, most)
	}
	return nil
}

// checkWord refuses a word that is not in a fixed set.
func checkWord[W ~string](pointer string, word W, known ...W) error {
	if slices.Contains(known, word) {
		return nil
	}
	text, last := string(known[0]), len(known)-1
	for _, w := range known[1:last] {
		text += ", " + string(w)
	}
	return Invalid(pointer, "must be %s or %s.", text, known[last])
}
