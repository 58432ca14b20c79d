// Package attach attaches consumers to claims, in transactions that create or change claims.
package attach
