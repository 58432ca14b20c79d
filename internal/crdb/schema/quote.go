package schema

import (
	"strings"
)

// quoteLiteral quotes a string for the few statements that allow no placeholders. These statements change types and regions.
func quoteLiteral(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
