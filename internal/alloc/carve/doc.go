// Package carve takes blocks from a container's free rows and returns the changes to those rows.
package carve
