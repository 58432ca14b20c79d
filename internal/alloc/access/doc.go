// Package access has the use cases for projects and spaces, and for access to them: members, API keys, grants.
package access
