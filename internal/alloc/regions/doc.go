// Package regions manages pools that serve several regions. It lends blocks from a pool's home region to the other regions, and recalls them. After a
// region is restored from a backup, it makes the region's rows agree with the loan records.
package regions
