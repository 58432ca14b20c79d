// Package storetest is the contract of storage.Store as a test suite that every engine passes. It does not depend on SQL or a driver. The Bundle
// shows the suite the state that the interface hides, such as every row of every table and the isolation level of a transaction.
//
// The suite checks five properties:
//   - Reads return every field of written values, in the promised order, page by page.
//   - If a transaction's changes are based on an outdated state, it writes nothing and runs again.
//   - If a name or key is in use, the write fails with a Conflict. The Conflict names exactly the names or keys in use.
//   - A dry run writes nothing.
//   - Two conflicting transactions end as if one had run after the other. The second one runs again and then sees the first one's changes.
package storetest
