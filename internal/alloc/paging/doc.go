// Package paging is filters, pages and cursors of lists.
package paging
