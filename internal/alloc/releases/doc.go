// Package releases is releasing many claims by one request.
package releases
