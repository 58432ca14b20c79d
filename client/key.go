package client

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
)

const keyHeader = "Idempotency-Key"

// giveKey sets an Idempotency-Key on a request that takes one and has none. It runs once for a call, before the first attempt, so that all attempts
// have the same key and the server returns the first attempt's result.
func giveKey(req *http.Request) {
	if req.Method == http.MethodPost && !takesNoKey(req) && req.Header.Get(keyHeader) == "" {
		req.Header.Set(keyHeader, rand.Text())
	}
}

// explanations is the path suffix for the POST that writes nothing.
const explanations = "/claim-explanations"

// keyless lists the path suffixes for the POSTs that take no key: a query that is too long for a URL, operations that are idempotent, and a release
// of many claims, which a token or createdBefore bounds.
var keyless = []string{explanations, "/claim-releases", "/consumer-renewals", "/expiry-confirmations", "/retries"}

// takesNoKey reports whether a POST takes no key. Repeating such a POST changes nothing more.
func takesNoKey(req *http.Request) bool {
	return req.Method == http.MethodPost && slices.ContainsFunc(keyless, func(end string) bool { return strings.HasSuffix(req.URL.Path, end) })
}
