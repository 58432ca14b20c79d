// Package regions is pools that several regions serve: lending, recalling, reconciling.
package regions
