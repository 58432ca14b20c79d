// Package kind contains the use cases that all resources share: list, read, create, put, patch, delete.
package kind
