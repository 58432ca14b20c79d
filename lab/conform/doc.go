// Package conform generates valid and invalid requests from openapi.yaml, sends them to the service on a real database, and compares each response
// with the contract.
//
// A seed determines all requests of a run. A run has rounds; in each round, every operation gets every applicable kind of request. Requests that must
// not write (invalid requests, refused credentials, dry runs, reads) form one group, and the rows of the database must be the same before and after
// it. The other requests make sense and use the objects of earlier ones, so that not all responses are refusals.
//
// The generator knows the fault of an invalid request because it made the fault, and does not ask a validator: the service uses one too, and both
// would share its faults.
//
// A run fails if an operation was never called, never succeeded or was never refused. TestJudgeDetectsEachKindOfMismatch alters responses on their
// way to the judge and shows that it detects each kind of mismatch. docs/evidence.md lists the coverage and its gaps.
package conform
