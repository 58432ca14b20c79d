// Package fastvalidate is the fast path of validation. It recognizes most valid JSON texts in one pass over their bytes, without allocations.
//
// A Checker is compiled from a schema of the contract. It returns true only for texts that the full validation accepts. It returns false for invalid
// texts, and also for texts that it cannot decide, such as rare or ambiguous ones. The full validation then decides. So this package needs no error
// messages. If it does not know a rule, the check takes more time, but its result is never wrong.
//
// The package exists because other validators check decoded values, which is slower. ADR 18 has the figures.
package fastvalidate
