// Package conform generates valid and invalid requests from openapi.yaml, sends them to the service on a real database, and compares each response
// with the contract.
//
// A seed determines all requests of a run. A run has rounds. In each round, each operation gets each kind of request that applies to it. There are
// two groups of requests. The first group must not change the data: invalid requests, refused credentials, dry runs and reads. The database must have
// the same rows before and after it. The second group consists of sensible requests that use the objects of earlier requests, so that many requests
// succeed.
//
// The generator knows the fault of an invalid request, because it put the fault in. It does not use a validator. The service uses a validator too,
// and both would have the same faults.
//
// A run fails if an operation was never called, never succeeded or was never refused. TestJudgeDetectsEachKindOfMismatch alters responses before the
// judge sees them. It shows that the judge detects each kind of mismatch. docs/evidence.md lists the coverage and its gaps.
package conform
