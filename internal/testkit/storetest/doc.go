// Package storetest is the contract of storage.Store as a test suite that every engine passes. It knows no SQL and no driver.
// The Bundle shows it the state that the interface hides: every row of every table, and the level of a transaction.
//
// The suite checks five properties. Reads return every field of written values, in the promised order, page by page. A plan
// from an outdated state writes nothing, and its transaction runs again. A name or key in use causes a Conflict that names
// exactly the existing ones. A dry run writes nothing. Two transactions with a conflict end as if one had followed the
// other, and the second learns of the first by a second attempt.
package storetest
