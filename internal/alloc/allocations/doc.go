// Package allocations contains the use cases on allocations. An allocation is a held block with its holder.
package allocations
