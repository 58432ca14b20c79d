// Package tenancy says who is asking and what they may do. Every use case asks it first, once, and what is not allowed
// explicitly is refused. A thing the caller may not see is answered exactly like a thing that does not exist.
package tenancy
