package ipam

import (
	"regexp"
	"time"
)

// Member is a subject's role in a project. The member's name is the subject.
type Member struct {
	Metadata
	ProjectID ID         `json:"projectId"`
	Spec      MemberSpec `json:"spec"`
}

// MemberSpec has the member fields that the caller sets.
type MemberSpec struct {
	Role string `json:"role"`
}

// subjects matches valid caller names. Such a name needs no quotes in a path, a log line or a shell.
var subjects = regexp.MustCompile(`^[A-Za-z0-9._:@|+=-]{1,255}$`)

// ValidSubject reports whether s is a valid name for a caller.
func ValidSubject(s string) bool { return subjects.MatchString(s) }

// APIKey is a secret that gives a role in one project. The database has only the secret's hash.
type APIKey struct {
	Metadata
	ProjectID  ID         `json:"projectId"`
	Spec       APIKeySpec `json:"spec"`
	Hash       []byte     `json:"-"` // the secret's SHA-256
	LastUsedAt time.Time  `json:"lastUsedAt,omitzero"`
	Token      string     `json:"-"` // only in the response that creates the key
}

// APIKeySpec has the key fields that the caller sets.
type APIKeySpec struct {
	Role        string    `json:"role"`
	ExpiresAt   time.Time `json:"expiresAt,omitzero"` // zero: never
	Description string    `json:"description,omitempty"`
}

// Expired reports whether the key has expired at a time.
func (k APIKey) Expired(now time.Time) bool {
	return !k.Spec.ExpiresAt.IsZero() && !now.Before(k.Spec.ExpiresAt)
}

// Phase returns Active or Expired.
func (k APIKey) Phase(now time.Time) string {
	if k.Expired(now) {
		return "Expired"
	}
	return "Active"
}

// Everybody is the consumer in a grant to all projects.
const Everybody = "*"

// GrantKind is the kind that a grant's resource has.
type GrantKind string

// The kinds.
const (
	GrantOfPool  GrantKind = "pool"
	GrantOfSpace GrantKind = "space"
)

// Grant allows a consumer to use another project's pool or space. The consumer is a project's name or Everybody. It is also the grant's name.
type Grant struct {
	Metadata
	Kind      GrantKind `json:"kind"`
	SubjectID ID        `json:"subjectId"` // the pool or space
}

// ValidConsumer reports whether s is a valid consumer for a grant.
func ValidConsumer(s string) bool { return s == Everybody || ValidName(s) }
