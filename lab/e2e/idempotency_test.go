package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each POST of the contract, as in its examples.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	for _, each := range s.specimens(t) {
		if !each.op.creates() {
			continue
		}
		t.Run(each.String(), func(t *testing.T) {
			k := key("key-" + each.String())
			first := s.created(t, each.send(t, s.caller, k))
			require.Empty(t, first.header.Get("Idempotency-Replayed"))
			t.Run("ReturnsTheFirstResponse", func(t *testing.T) {
				s.writesNothing(t, func() {
					again := s.created(t, each.send(t, s.caller, k))
					require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
					require.JSONEq(t, string(withoutToken(t, first)), string(again.body))
					for _, name := range []string{"ETag", "Location"} {
						require.Equal(t, first.header.Values(name), again.header.Values(name))
					}
				})
			})
			t.Run("WithAnotherRequestIsRefused", func(t *testing.T) {
				other := clone(each.body)
				if claims, isBatch := other["claims"].([]any); isBatch {
					other["claims"] = claims[:1]
				} else {
					other["metadata"].(obj)["labels"] = obj{"other": "request"}
				}
				s.writesNothing(t, func() {
					s.refused(t, each.sendBody(t, s.caller, other, k), "idempotency_mismatch", "header:Idempotency-Key")
				})
			})
		})
	}
}

// withoutToken returns a response without the secret that only the first response contains.
func withoutToken(t testing.TB, a answer) []byte {
	t.Helper()
	body := decode[obj](t, a)
	delete(body, "token")
	delete(body, "secret")
	return marshal(body)
}

func TestIdempotencyKeyOfAClaim(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.created(t, w.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": "other"}}))
	w.pool(t, "p", obj{"cidr": "10.0.0.0/30"})
	first := w.created(t, w.postClaim(t, "c", from("p", 31), key("k")))

	t.Run("ReturnsTheFirstResponseWhenThePoolIsFull", func(t *testing.T) {
		w.claim(t, "rest", from("p", 31))
		again := w.postClaim(t, "c", from("p", 31), key("k"))
		require.JSONEq(t, string(first.body), string(w.created(t, again).body))
	})
	t.Run("AcceptsAnotherSpellingOfTheRequest", func(t *testing.T) {
		body := []byte(` { "spec":{"prefixLength":31,"poolRef":{"name":"\u0070"}} , "metadata":{"name":"c"}}  `)
		again := w.do(t, http.MethodPost, at("claims"), body, key("k"), without("Content-Type"), header("Content-Type", "Application/JSON; charset=UTF-8"))
		require.Equal(t, "true", w.created(t, again).header.Get("Idempotency-Replayed"))
	})
	t.Run("IsRefusedAfterTheClaimIsGone", func(t *testing.T) {
		w.release(t, "c")
		w.claim(t, "successor", from("p", 31))
		w.writesNothing(t, func() {
			p := w.refused(t, w.postClaim(t, "c", from("p", 31), key("k")), "claim_released", "header:Idempotency-Key")
			require.Contains(t, p.Detail, "/c, and this claim has been released")
			w.refused(t, w.do(t, http.MethodGet, at("claims", "c"), nil), "not_found")
		})
		w.release(t, "successor")
	})
	t.Run("IsSeparateForEachOperationAndProject", func(t *testing.T) {
		w.refused(t, w.do(t, http.MethodPost, at("pools"), named("q", obj{"cidr": "10.1.0.0/24"}), key("k")), "idempotency_mismatch")
		w.created(t, w.do(t, http.MethodPost, "/v1/projects/other/pools", named("q", obj{"cidr": "10.1.0.0/24"}), key("k")))
	})
	t.Run("OfARefusedRequestCanBeReused", func(t *testing.T) {
		w.refused(t, w.postClaim(t, "d", from("p", 30), key("d")), "pool_exhausted")
		w.release(t, "rest")
		require.Empty(t, w.created(t, w.postClaim(t, "d", from("p", 30), key("d"))).header.Get("Idempotency-Replayed"))
	})
	t.Run("IsVisibleASCIIOf1To255Characters", func(t *testing.T) {
		w.pool(t, "keys", obj{"cidr": "10.2.0.0/24"})
		w.created(t, w.postClaim(t, "long", from("keys", 32), key(strings.Repeat("k", 255))))
		w.created(t, w.postClaim(t, "odd", from("keys", 32), key("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")))
		w.writesNothing(t, func() {
			for _, bad := range []string{"", strings.Repeat("k", 256), "two words", "tab\there", "é", "\xff"} {
				w.refused(t, w.postClaim(t, "x", from("keys", 32), key(bad)), "invalid_argument", "header:Idempotency-Key")
			}
			w.refused(t, w.postClaim(t, "x", from("keys", 32), key("one"), key("two")), "invalid_argument", "header:Idempotency-Key")
		})
	})
}

// For claims the server stores only its additions to the request. A repeat still gets every byte of the first answer.
func TestRepeatOfClaimsReturnsTheSameBytes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.created(t, w.do(t, http.MethodPost, at("pools"), obj{
		"metadata": obj{"name": "p", "labels": obj{"site": "a"}}, "spec": obj{"cidr": "10.0.0.0/24", "reuseAfter": "90s"},
	}))
	w.pool(t, "six", obj{"cidr": "2001:db8::/64"})
	full := obj{
		"metadata": obj{"generateName": "full-", "labels": obj{"b": "2", "a": "1"}, "annotations": obj{"example.com/x": "y"}},
		"spec": obj{
			"poolSelector": obj{"matchLabels": obj{"site": "a"}}, "prefixLength": 30, "reclaimPolicy": "Retain", "ownerRef": obj{"kind": "VM", "name": "v", "uid": "u"},
		},
	}
	exact := named("exact", obj{"poolRef": obj{"name": "p"}, "address": "10.0.0.77"})
	for name, body := range map[string]obj{
		"claims":        full,
		"claim-batches": {"claims": []any{exact, named("six", from("six", 128)), full, named("one", from("p", 32)), named("two", from("p", 32))}},
	} {
		t.Run(name, func(t *testing.T) {
			first := w.created(t, w.do(t, http.MethodPost, at(name), body, key(name)))
			if _, batch := body["claims"]; batch {
				now := w.ok(t, w.do(t, http.MethodGet, at("claims", "exact"), nil))
				w.ok(t, w.do(t, http.MethodPatch, at("claims", "exact"), obj{"metadata": obj{"labels": obj{"changed": "since"}}}, ifMatch(now.header.Get("ETag"))))
			}
			again := w.created(t, w.do(t, http.MethodPost, at(name), body, key(name)))
			require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
			require.Equal(t, string(first.body), string(again.body))
			require.Equal(t, first.header.Values("ETag"), again.header.Values("ETag"))
		})
	}
}

// Many copies of one request at the same time take effect once, and all get the same answer.
func TestIdempotencyKeyOfRequestsAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
	for name, body := range map[string]obj{
		"Named":     named("c", from("p", 32)),
		"Generated": {"metadata": obj{"generateName": "c-"}, "spec": from("p", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			before := w.available(t, "p")
			answers := make([]answer, 16)
			var wg sync.WaitGroup
			for i := range answers {
				wg.Go(func() {
					a, err := w.try(t.Context(), t, http.MethodPost, at("claims"), body, key("once-"+name))
					if err != nil {
						t.Error(err)
					}
					answers[i] = a
				})
			}
			wg.Wait()
			fresh := 0
			for _, a := range answers {
				require.JSONEq(t, string(answers[0].body), string(w.created(t, a).body))
				if a.header.Get("Idempotency-Replayed") == "" {
					fresh++
				}
			}
			require.Equal(t, 1, fresh)
			require.Equal(t, before.Int64()-1, w.available(t, "p").Int64())
		})
	}
}
