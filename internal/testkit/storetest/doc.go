// Package storetest is the contract of storage.Store as a suite that every engine passes. It knows no SQL and no driver: what
// it cannot see through the interface (every row of every table, the level of a transaction) the Bundle shows it.
//
// The suite asks five things. Does what is written come back, every field of it, in the promised order, page by page? Does
// a plan that was made from a state that is gone write nothing and run again? Is a name or a key that exists answered as a
// Conflict that names exactly those? Is a dry run dry? And do two transactions that meet end as if one had come after
// the other, with the second told so by a second attempt?
package storetest
