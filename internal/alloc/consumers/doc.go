// Package consumers contains the use cases on consumers, which are the users of claims. The use cases create, renew, attach, detach and end
// consumers.
package consumers
