// Package allocations has the use cases for allocations: the blocks that are held, and their holders.
package allocations
