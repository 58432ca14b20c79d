// Package refusals builds the refusals for requests that pools could not serve. The refusals contain figures about the pools.
package refusals
