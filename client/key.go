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
	if req.Method == http.MethodPost && !onlyAsks(req) && req.Header.Get(keyHeader) == "" {
		req.Header.Set(keyHeader, rand.Text())
	}
}

// keyless are the ends of the paths of POSTs that take no key: a question that is too long for a URL, and what says the same when it is said again.
var keyless = []string{"/claim-explanations", "/consumer-renewals", "/expiry-confirmations"}

// onlyAsks reports whether a POST takes no key, because a repeat of it changes nothing that the first has not.
func onlyAsks(req *http.Request) bool {
	return req.Method == http.MethodPost && slices.ContainsFunc(keyless, func(end string) bool { return strings.HasSuffix(req.URL.Path, end) })
}
