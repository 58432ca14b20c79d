// Package codec converts the generated wire types into the domain types and back. The packages that the API calls never see the generated types.
package codec
