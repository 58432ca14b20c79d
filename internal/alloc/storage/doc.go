// Package storage declares what the use cases need of a database: transactions, reads, and changes as data.
package storage
