// Package releases releases many claims in one request.
package releases
