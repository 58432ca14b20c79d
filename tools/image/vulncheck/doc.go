// Package vulncheck holds the check for known vulnerabilities, a script, to what it promises: that it fails when something is
// found, and that it never passes when it could not look. It has tests alone.
package vulncheck
