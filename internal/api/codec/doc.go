// Package codec converts the generated wire types into the domain types and back. No other package below the API sees the generated types.
package codec
