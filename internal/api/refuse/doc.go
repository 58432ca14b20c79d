// Package refuse builds the errors that point to a request's faulty fields.
package refuse
