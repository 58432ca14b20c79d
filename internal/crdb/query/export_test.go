package query

// Strip takes the comments off a statement.
var Strip = strip
