// Package refuse builds refusals that point to the faulty fields of a request.
package refuse
