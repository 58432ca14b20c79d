package client

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
)

const keyHeader = "Idempotency-Key"

// giveKey sets an Idempotency-Key on a request that takes a key and has none. It runs once for a call, before the first attempt. All attempts
// therefore have the same key, and the server returns the first attempt's result to each retry.
func giveKey(req *http.Request) {
	if req.Method == http.MethodPost && !takesNoKey(req) && req.Header.Get(keyHeader) == "" {
		req.Header.Set(keyHeader, rand.Text())
	}
}

// explanations is the path suffix of the POST that only explains how the server would serve a claim. This POST writes nothing.
const explanations = "/claim-explanations"

// keyless lists the path suffixes of the POSTs that take no key:
//
//   - claim-explanations is a query that is too long for a URL
//   - claim-releases deletes many claims, limited by a token or by createdBefore
//   - the other operations are idempotent
var keyless = []string{explanations, "/claim-releases", "/consumer-renewals", "/expiry-confirmations", "/retries"}

// takesNoKey reports whether a POST takes no key. A repeated POST of that kind has no further effect.
func takesNoKey(req *http.Request) bool {
	return req.Method == http.MethodPost && slices.ContainsFunc(keyless, func(end string) bool { return strings.HasSuffix(req.URL.Path, end) })
}
