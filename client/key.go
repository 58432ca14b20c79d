package client

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
)

const keyHeader = "Idempotency-Key"

// giveKey puts an Idempotency-Key on a request that takes one and has none. It is given once for a call, before its first
// attempt: the server answers every repeat with what became of the first.
func giveKey(req *http.Request) {
	if req.Method == http.MethodPost && !takesNoKey(req) && req.Header.Get(keyHeader) == "" {
		req.Header.Set(keyHeader, rand.Text())
	}
}

// keyless are the ends of the paths of POSTs that take no key: a question that is too long for a URL, what says the same when it is said again, and a release
// of many claims, which says what bounds it.
var keyless = []string{"/claim-explanations", "/claim-releases", "/consumer-renewals", "/expiry-confirmations", "/retries"}

// takesNoKey reports whether a POST takes no key, because a repeat of it changes nothing that the first has not.
func takesNoKey(req *http.Request) bool {
	return req.Method == http.MethodPost && slices.ContainsFunc(keyless, func(end string) bool { return strings.HasSuffix(req.URL.Path, end) })
}
