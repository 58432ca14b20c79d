// Package oidc authenticates JWTs of OpenID Connect issuers that the operator has configured.
//
// # Trust
//
// The `iss` claim selects the issuer, by exact comparison. The server uses no other claim before it has verified the token's
// signature with a key that this issuer publishes. The configuration lists the allowed algorithms of the issuer and accepts
// only asymmetric ones. So the server refuses `none`, and HMAC with a public key as the secret, whatever the issuer
// publishes. It ignores headers that contain or name a key (`jwk`, `jku`, `x5c`, `x5u`).
//
// # Keys
//
// The server fetches an issuer's keys when the first token of the issuer arrives, so the server starts even while the issuer is
// down. Until the issuer responds, the server refuses its tokens with unavailable; tokens of other issuers are not affected.
//
// A token with an unknown key waits for a fetch that begins after the token arrived, because an earlier fetch may have missed
// a new key. All waiting requests share the next fetch, and fetches from one issuer begin at least a second apart. After a
// fetch without a new key and without the wanted one, the server refuses unknown keys for a while: a second at first, twice
// as long each time, at most 30 seconds. So forged tokens cause few fetches.
//
// Five minutes after the last successful fetch, the next token starts another one in the background. A withdrawn key stays
// valid until that fetch ends. While an issuer is down, its cached keys stay valid.
package oidc
