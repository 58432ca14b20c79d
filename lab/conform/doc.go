// Package conform generates valid and invalid requests from openapi.yaml, sends them to the service on a real database, and compares each response
// with the contract.
//
// A seed determines all requests of a run. A run has rounds; in each round, every operation gets every applicable kind of request. Requests that must
// not write (invalid requests, refused credentials, dry runs, reads) form one group. The database must have the same rows before and after that
// group. The other requests make sense and use the objects of earlier ones, so that not all responses are refusals.
//
// The generator knows the fault of an invalid request because it made the fault. It asks no validator, because the service uses one too and both
// would share the validator's faults.
//
// A run fails if an operation was never called, never succeeded or was never refused. TestJudgeDetectsEachKindOfMismatch alters responses on their
// way to the judge and shows that it detects each kind of mismatch. docs/evidence.md lists the coverage and its gaps.
package conform
