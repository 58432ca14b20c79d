package schema

import (
	"strings"
)

// quoteLiteral quotes a string for the few statements that take no placeholders (types and regions).
func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
