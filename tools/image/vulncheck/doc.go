// Package vulncheck tests the script that checks for known vulnerabilities. The script must fail if it finds a vulnerability, and also if it could
// not check. The package contains only tests.
package vulncheck
