package client

import (
	"crypto/rand"
	"net/http"
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

// takesNoKey reports whether a POST takes no key, because it can be repeated without one: a question that is too long for a URL, or a release of many claims,
// which says what bounds it.
func takesNoKey(req *http.Request) bool {
	return req.Method == http.MethodPost && (strings.HasSuffix(req.URL.Path, "/claim-explanations") || strings.HasSuffix(req.URL.Path, "/claim-releases"))
}
