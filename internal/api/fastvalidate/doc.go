// Package fastvalidate is the fast path of validation: it recognizes most valid JSON texts in one pass over their bytes, without allocations.
//
// A Checker is compiled from a schema of the contract. It returns true only for texts that the full validation accepts. It returns false for invalid
// texts and for any text that it cannot decide, such as a rare or ambiguous one; the full validation decides those. So it needs no error messages,
// and a rule that it does not know costs time and never correctness.
//
// The package exists because other validators check decoded values: ADR 18 has the figures.
package fastvalidate
