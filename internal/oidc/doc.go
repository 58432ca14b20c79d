// Package oidc authenticates JWTs from OpenID Connect issuers that the operator has configured.
//
// # Trust
//
// The `iss` claim selects the issuer, by exact comparison. The server uses no other claim before it has verified the token's signature with a key
// that this issuer publishes. The configuration lists the algorithms that are allowed for an issuer, and it can list only asymmetric algorithms. So
// the server refuses `none`. It also refuses HMAC with a public key as the secret, whatever the issuer publishes. It ignores headers that contain or
// name a key (`jwk`, `jku`, `x5c`, `x5u`).
//
// # Keys
//
// The server fetches an issuer's keys when the first token of this issuer arrives. So the server can start while an issuer is down. Until the issuer
// responds, the server refuses its tokens with the code unavailable. Other issuers' tokens are not affected.
//
// An issuer may have published a new key after the last fetch. So a token with an unknown key waits for a fetch that begins after the token has
// arrived. All waiting requests share this fetch, and two fetches from one issuer begin at least a second apart.
//
// If a fetch brings neither a new key nor the wanted key, the server refuses unknown keys for a pause. The pause is one second at first, doubles each
// time, and is at most 30 seconds. So forged tokens cause few fetches.
//
// Five minutes after the last successful fetch, the next token starts another fetch in the background. If the issuer has withdrawn a key, the key
// stays valid until that fetch ends. While an issuer is down, its cached keys stay valid.
package oidc
