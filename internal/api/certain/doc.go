// Package certain tells most valid JSON texts from all others, in one pass over their bytes and without allocating.
//
// A Checker is made of a schema of the contract. It answers true only for texts that the full validation lets through, and false for those
// that are wrong and for those that it is not sure of: whatever is rare, or has more than one reading, is somebody else's to judge. So it
// needs no error messages, and a rule that it does not know costs time and never correctness.
//
// It is our own because what there is validates decoded values: docs/adr/0018-certain-requests.md has the figures.
package certain
