// Package storage declares the use cases' interface to the database: transactions, reads, and changes as data.
package storage
