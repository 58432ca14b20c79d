// Package refuse builds the errors that point to the faulty fields of a request.
package refuse
