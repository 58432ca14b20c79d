// Package refusals explains why a pool could not grant what was asked for.
package refusals
