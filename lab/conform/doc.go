// Package conform makes requests of openapi.yaml, valid and invalid ones, sends them to the service on a real database and holds each
// answer against what the contract says of it.
//
// A run is a seed: it decides all that is sent. It has rounds; in each round every operation gets every kind of request that applies to
// it. Kinds that must not write (invalid requests, refused credentials, dry runs, reads) go together, and the rows of the database are the
// same before and after them. The others are requests that make sense and meet what was made before, so that answers are not all refusals.
//
// What is wrong in an invalid request is known from how it was made, and not from a validator: the service uses one too, and both would
// share its faults.
//
// An operation that was never called, never succeeded or was never refused fails the run. TestTwins shows that each kind of
// mismatch is noticed: answers are altered on their way to the judge. docs/evidence.md says what is covered and what is not.
package conform
