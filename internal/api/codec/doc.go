// Package codec turns what is sent into the vocabulary and back: the generated types end here.
package codec
