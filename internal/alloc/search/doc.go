// Package search finds resources in all projects of a caller by an address, a block, a name or a label.
package search
