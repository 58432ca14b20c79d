// Package search finds resources in all the caller's projects by an address, a block, a name or a label.
package search
