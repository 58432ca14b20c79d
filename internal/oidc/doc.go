// Package oidc authenticates JWTs of OpenID Connect issuers that the operator has configured.
//
// # What is believed
//
// A token's own `iss` chooses the issuer, by exact comparison, and nothing else of the token is looked at before its
// signature has been verified with a key that this issuer publishes. The algorithm must be one of those configured for
// the issuer, and only asymmetric ones can be configured: `none`, and HMAC with a public key as its secret, are refused
// whatever the issuer publishes. Headers that bring or name a key (`jwk`, `jku`, `x5c`, `x5u`) are not followed.
//
// # Keys
//
// An issuer is first asked when the first token of it comes, so a server starts while an issuer is down; until it answers,
// its tokens are answered with unavailable, and those of others are not affected. A token that names an unknown key waits
// for a fetch that begins after it came, so a token signed with a published key is not refused. Fetches of an issuer
// begin at least a second apart and everybody who waits shares the next one, so unknown keys, however many, cost the
// issuer one fetch a second. Keys are read again every five minutes, which is how long a withdrawn key may still be
// believed; while an issuer is down, its last known keys are.
package oidc
