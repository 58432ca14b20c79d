// Package access contains the use cases for projects and spaces, and for access to them by members, API keys and grants.
package access
