package rows

// TextOrNull is the element type of a nullable text column's array.
type TextOrNull = textOrNull
