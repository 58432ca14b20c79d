// Package refusals builds the refusals for requests that pools could not serve, with figures.
package refusals
