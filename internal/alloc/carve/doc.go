// Package carve takes blocks from free rows, and says which rows change.
package carve
