// Package turns decides whose turn it is to work on a pool, and how much of what takes long goes on at once.
package turns
