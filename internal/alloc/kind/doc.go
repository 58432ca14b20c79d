// Package kind is what the use cases of all kinds of resources have in common: list, read, create, put, patch, delete.
package kind
