package ipam

import (
	"regexp"
	"time"
)

// Member is a subject's role in a project. Its name is the subject.
type Member struct {
	Metadata
	ProjectID ID         `json:"projectId"`
	Spec      MemberSpec `json:"spec"`
}

// MemberSpec is what the caller writes of a member.
type MemberSpec struct {
	Role string `json:"role"`
}

// subjects are what can name somebody in a path, a log line and a shell without quoting.
var subjects = regexp.MustCompile(`^[A-Za-z0-9._:@|+=-]{1,255}$`)

// ValidSubject reports whether s can be the name of a caller.
func ValidSubject(s string) bool { return subjects.MatchString(s) }

// APIKey is a secret that stands for a role in one project. Its id is its UID; of the secret only a hash exists.
type APIKey struct {
	Metadata
	ProjectID  ID         `json:"projectId"`
	Spec       APIKeySpec `json:"spec"`
	Hash       []byte     `json:"-"` // SHA-256 of the secret
	LastUsedAt time.Time  `json:"lastUsedAt,omitzero"`
	Token      string     `json:"-"` // in the answer that creates it, and nowhere else
}

// APIKeySpec is what the caller writes of a key.
type APIKeySpec struct {
	Role        string    `json:"role"`
	ExpiresAt   time.Time `json:"expiresAt,omitzero"` // zero: never
	Description string    `json:"description,omitempty"`
}

// Expired reports whether the key has expired at a time.
func (k APIKey) Expired(now time.Time) bool {
	return !k.Spec.ExpiresAt.IsZero() && !now.Before(k.Spec.ExpiresAt)
}

// Phase is Active or Expired.
func (k APIKey) Phase(now time.Time) string {
	if k.Expired(now) {
		return "Expired"
	}
	return "Active"
}

// Everybody is the consumer of a grant to all projects.
const Everybody = "*"

// GrantKind says what a grant is of.
type GrantKind string

// The kinds of grants.
const (
	GrantOfPool  GrantKind = "pool"
	GrantOfSpace GrantKind = "space"
)

// Grant lets a consumer, a project's name or Everybody, use a pool or a space of another project. Its name is the consumer.
type Grant struct {
	Metadata
	Kind      GrantKind `json:"kind"`
	SubjectID ID        `json:"subjectId"` // of the pool or space
}

// ValidConsumer reports whether a grant can be made to it.
func ValidConsumer(s string) bool { return s == Everybody || ValidName(s) }
