// Package paging contains the filters, pages and cursors for lists.
package paging
