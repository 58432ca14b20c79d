// Package regions manages pools that serve several regions: it lends blocks to regions, recalls them, and reconciles a region's rows with the loan
// records.
package regions
