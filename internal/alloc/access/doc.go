// Package access is projects and spaces, and who may use them: members, API keys, grants.
package access
