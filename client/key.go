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
	if req.Method == http.MethodPost && !onlyAsks(req) && req.Header.Get(keyHeader) == "" {
		req.Header.Set(keyHeader, rand.Text())
	}
}

// onlyAsks reports whether a POST is a question that is too long for a URL. It takes no key, and changes nothing.
func onlyAsks(req *http.Request) bool {
	return req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/claim-explanations")
}
