// Package vulncheck tests the script that checks for known vulnerabilities: it must fail when it finds one, and must never pass when it could not
// check. The package only contains tests.
package vulncheck
