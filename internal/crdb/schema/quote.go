package schema

import (
	"strings"
)

// quoteLiteral quotes a string for the few statements without placeholders (types and regions).
func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
