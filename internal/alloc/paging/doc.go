// Package paging has the filters, pages and cursors of lists.
package paging
